// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/config.h"

#include <string_view>

namespace spanscope::model {

/// Whether checkpoints of this architecture are known to contain a tensor of this name that the decoder does
/// not use. Any other unused tensor means that checkpoint and configuration do not fit.
bool isKnownExtra(std::string_view name, const ModelConfig& config);

}  // namespace spanscope::model
