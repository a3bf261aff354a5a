// SPDX-License-Identifier: GPL-3.0-or-later
// Reads how a model turns queries and keys from config.json, in the formats of older and newer versions of
// transformers.
#pragma once

#include "engine/checkpoint/json_reading.h"
#include "engine/model/config.h"

#include <string>

namespace spanscope::model {

/// The type of the layers that fields beside `rope_parameters` are about.
inline constexpr const char* kMainKind = "full_attention";

/// From `rope_theta`, `rope_scaling` and `rope_parameters`, of which two may say the same. `kind`: what
/// stands in `rope_parameters` for layers of this type, if it has an object for each type. `theta`: the base
/// of the frequencies if no field has one. maxPositions and headSize of `result` must be known. Throws
/// Failure for contradictions and for scalings that are not supported.
RotarySpec parseRotary(const checkpoint::JsonPlace& config, const ModelConfig& result, double theta,
                       const std::string& kind = kMainKind);

/// LongRoPE's factor on attention, for a context that is so many times the original one.
/// The factor on attention of a context that is so many times as long (YaRN, arXiv 2309.00071, section 3.4).
double yarnScale(double factor, double weight);

double longRopeScale(double factor, std::int64_t originalPositions);

}  // namespace spanscope::model
