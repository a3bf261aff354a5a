// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/model/config.h"
#include "engine/model/weights.h"

#include <set>
#include <string>
#include <string_view>

namespace spanscope::model {

/// Whether checkpoints of this architecture are known to contain a tensor of this name that the decoder does
/// not use. Any other unused tensor means that checkpoint and configuration do not fit.
bool isKnownExtra(std::string_view name, const ModelConfig& config);

/// Throws Failure if the source has a tensor that is neither among the used ones nor a known extra: it would
/// be left out of every answer.
void refuseSurplus(const ModelConfig& config, const WeightSource& source, const std::set<std::string>& used);

}  // namespace spanscope::model
