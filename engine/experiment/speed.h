// SPDX-License-Identifier: GPL-3.0-or-later
// Prompt and generation speed by the conventions of llama-bench. ppN computes N prompt tokens, tgN generates
// N tokens one by one; both follow a context of `depth` tokens. Tokenizing and sampling are not included. One
// run without timing comes first.
#pragma once

#include "engine/compute/backends.h"
#include "engine/experiment/cost.h"
#include "engine/experiment/statistics.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

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
  double weightElementBytes = 2;  ///< 2 for bf16, 4 for f32
  /// The machine's rate that prompts are held against: that of the arithmetic with which most weights are
  /// multiplied. A device that has no such arithmetic is held against its f32.
  double compute::MachineRates::*arithmetic = &compute::MachineRates::flops;
};

struct SpeedResult {
  SpeedTest test;
  Summary tokensPerSecond;
  double flopsPerSecond = 0;      ///< at the median
  double bytesPerSecond = 0;      ///< at the median, for the least bytes that must be read
  compute::MachineRates machine;  ///< the highest rates that were measured between the repeats
  double arithmeticLimit = 0;     ///< that of the options' arithmetic among them
  /// Share of the limit for this kind: arithmetic for prompts, memory for generation.
  double share() const;
};

/// Number of blocks with `blockSize` tokens for the keys and values of the longest test, including the null
/// block.
std::int32_t speedBlocks(const std::vector<SpeedTest>& tests, std::int32_t blockSize);

/// Keeps the higher of each rate: what disturbs one measurement of a machine is gone in another.
void keepHighest(compute::MachineRates& most, const compute::MachineRates& measured);

/// It calls `measureMachine` between the repeats, so that both see the same disturbances. Throws Failure if
/// memory cannot be allocated or if it was stopped.
SpeedResult measureSpeed(model::Decoder& decoder, compute::Backend& backend, const SpeedTest& test,
                         const SpeedOptions& options, const compute::RateMeter& measureMachine,
                         std::stop_token stop);

}  // namespace spanscope::experiment
