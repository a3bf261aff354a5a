// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the min arithmetic and memory traffic of a model, for comparisons with the machine's rates. Open
// this file to change these limits.
#pragma once

#include "engine/model/config.h"

#include <cstdint>

namespace spanscope::experiment {

/// Costs per token of a Llama-architecture decoder. The decoder has L layers, width H and inner width I. The
/// decoder has Q query heads, K key/value heads of size D, and V tokens. A fused multiply-add counts as 2
/// operations.
struct ModelCost {
  /// Operations of the matrices of all layers, once per computed token: `2 · L · (H·Q·D + 2·H·K·D + Q·D·H +
  /// 3·H·I)`.
  double layerFlops = 0;
  /// 2 · V · H: the output matrix, once per token whose logits are requested.
  double outputFlops = 0;
  /// 4 · L · Q · D: a score and a weighted value, for each computed token and each key of this token.
  double attentionFlops = 0;
  /// Bytes of the matrices of all layers and of the output matrix. Each generated token reads at least these
  /// bytes.
  double weightBytes = 0;
  /// 2 · L · K · D · bytes of an element: keys and values of one token.
  double keyValueBytes = 0;
};

/// `weightElementBytes`: 2 for bf16, 4 for f32.
ModelCost costOf(const model::ModelConfig& config, double weightElementBytes, double keyValueElementBytes);

/// Returns the operations of one forward pass over `count` tokens after `depth` earlier tokens, with logits
/// for the last token.
double promptFlops(const ModelCost& cost, std::int64_t depth, std::int64_t count);

/// Returns the bytes that are read to generate `count` tokens one after the other, after `depth` earlier
/// tokens.
double generationBytes(const ModelCost& cost, std::int64_t depth, std::int64_t count);

}  // namespace spanscope::experiment
