// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/config.h"

#include <string_view>

namespace spanscope::model {

/// Whether checkpoints of this architecture are known to carry a tensor of that name although the decoder has
/// no use for it. Anything else that it does not use means that checkpoint and configuration do not fit.
bool isKnownExtra(std::string_view name, const ModelConfig& config);

}  // namespace spanscope::model
