// SPDX-License-Identifier: GPL-3.0-or-later
// The least arithmetic and memory traffic that a model needs, to compare a measured speed with the machine's.
#pragma once

#include "engine/model/config.h"

#include <cstdint>

namespace spanscope::experiment {

/// Costs per token of a Llama-architecture decoder with L layers, width H, Q query heads, K key/value heads
/// of size D, inner width I and a vocabulary of V pieces. A fused multiply-add counts as 2 operations.
struct ModelCost {
  /// 2 · L · (H·Q·D + 2·H·K·D + Q·D·H + 3·H·I): the matrices of all layers, once per computed token.
  double layerFlops = 0;
  /// 2 · V · H: the output matrix, once per token whose logits are wanted.
  double outputFlops = 0;
  /// 4 · L · Q · D: a score and a weighted value, once per computed token and per key that it reads.
  double attentionFlops = 0;
  /// Bytes of the matrices of all layers and of the output matrix: generating one token must read at least
  /// these.
  double weightBytes = 0;
  /// 2 · L · K · D · bytes of an element: keys and values of one token.
  double keyValueBytes = 0;
};

/// `weightElementBytes`: 2 for bf16, 4 for f32.
ModelCost costOf(const model::ModelConfig& config, double weightElementBytes, double keyValueElementBytes);

/// Operations for computing `count` tokens after `depth` earlier tokens in one pass, with logits for the last
/// token.
double promptFlops(const ModelCost& cost, std::int64_t depth, std::int64_t count);

/// Bytes that must be read to generate `count` tokens one after the other, after `depth` earlier tokens.
double generationBytes(const ModelCost& cost, std::int64_t depth, std::int64_t count);

}  // namespace spanscope::experiment
