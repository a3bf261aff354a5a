// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the rotary embedding of a model from config.json. Accepts the formats of older and newer versions of
// transformers. Open this file when a kind of RoPE scaling is refused.
#pragma once

#include "engine/checkpoint/json_reading.h"
#include "engine/model/config.h"

#include <string>

namespace spanscope::model {

/// The type of the layers that the fields beside `rope_parameters` describe.
inline constexpr const char* kMainKind = "full_attention";

/// Reads `rope_theta`, `rope_scaling` and `rope_parameters`. A value may be in two of these fields if both
/// values are equal. `kind` chooses an entry of `rope_parameters` if `rope_parameters` has an object for each
/// type of layers. `theta` is the base of the frequencies if no field has one. maxPositions and headSize of
/// `result` must be known. Throws Failure for contradictions and for unsupported scalings.
RotarySpec parseRotary(const checkpoint::JsonPlace& config, const ModelConfig& result, double theta,
                       const std::string& kind = kMainKind);

/// Returns the factor on attention for a context that is `factor` times as long (YaRN, arXiv 2309.00071,
/// section 3.4).
double yarnScale(double factor, double weight);

/// Returns LongRoPE's factor on attention, for a context that is `factor` times the original one.
double longRopeScale(double factor, std::int64_t originalPositions);

}  // namespace spanscope::model
