// SPDX-License-Identifier: GPL-3.0-or-later
// What a model's layers do, in words for people.
#pragma once

#include "engine/model/config.h"

#include <string>

namespace spanscope::model {

/// "none", "linear, × 8", "llama3", "YaRN, × 4 from 32768 tokens", "LongRoPE, for up to 4096 tokens" or "not
/// turned".
std::string scalingText(const AttentionKind& kind);

/// What the layers of each kind see, and how they turn: "26 layers see 512 tokens, base 10000; 5 layers see
/// all, base 1000000, linear, × 8".
std::string attentionText(const ModelConfig& config);

/// What a stored span is worth at another place, in a sentence or two.
std::string relocationText(const ModelConfig& config);

}  // namespace spanscope::model
