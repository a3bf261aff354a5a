// SPDX-License-Identifier: GPL-3.0-or-later
// Measures prompt and generation speed by the conventions of llama-bench. ppN computes N prompt tokens, and
// tgN generates N tokens one by one. Both tests follow a context of `depth` tokens. Tokenizing and sampling
// are not included. One run without timing comes first. Open this file to change this benchmark.
#pragma once

#include "engine/compute/backends.h"
#include "engine/experiment/statistics.h"
#include "engine/model/config.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

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

struct SpeedTest {
  enum class Kind { Prompt, Generation };
  Kind kind = Kind::Prompt;
  std::int32_t count = 512;  ///< tokens, at least 1
  std::int32_t depth = 0;    ///< tokens of context before

  std::string name() const;  ///< "pp512", "tg64 @ d4096"
};

struct SpeedOptions {
  std::int32_t repeats = 5;
  std::int32_t rowsPerPass = 512;
  compute::DType kvType = compute::DType::F32;
  double weightElementBytes = 2;  ///< 2 for bf16, 4 for f32.
  /// The machine's rate for the comparison with prompts: the rate of the arithmetic of most weights. A device
  /// without this arithmetic is compared with its f32 rate.
  double compute::MachineRates::*arithmetic = &compute::MachineRates::flops;
};

struct SpeedResult {
  SpeedTest test;
  Summary tokensPerSecond;
  double flopsPerSecond = 0;      ///< at the median
  double bytesPerSecond = 0;      ///< at the median, for the min bytes that must be read
  compute::MachineRates machine;  ///< the highest rates between the repeats
  double arithmeticLimit = 0;     ///< the rate of the options' arithmetic.
  /// Returns the share of the limit for this kind: arithmetic for prompts, memory for generation.
  double share() const;
};

/// Returns the number of blocks with `blockSize` tokens for the longest test, including the null block.
std::int32_t speedBlocks(const std::vector<SpeedTest>& tests, std::int32_t blockSize);

/// Keeps the higher value of each rate. A disturbance of one measurement may be absent in another one.
void keepHighest(compute::MachineRates& most, const compute::MachineRates& measured);

/// Measures one test. Calls `measureMachine` between the repeats, so that both measurements have the same
/// disturbances. Throws Failure when stopped, and if memory cannot be allocated.
SpeedResult measureSpeed(model::Decoder& decoder, compute::Backend& backend, const SpeedTest& test,
                         const SpeedOptions& options, const compute::RateMeter& measureMachine,
                         std::stop_token stop);

}  // namespace spanscope::experiment
