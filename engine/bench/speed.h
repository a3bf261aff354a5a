// SPDX-License-Identifier: GPL-3.0-or-later
// Prompt and generation speed by the conventions of llama-bench: ppN computes N prompt tokens, tgN generates
// N tokens one by one, both after a context of `depth` tokens; tokenizing and sampling are left out; one
// untimed run first.
#pragma once

#include "engine/bench/cost.h"
#include "engine/bench/statistics.h"
#include "engine/compute/backend.h"
#include "engine/model/decoder.h"

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace spanscope::bench {

struct SpeedTest {
  enum class Kind { Prompt, Generation };
  Kind kind = Kind::Prompt;
  std::int32_t count = 512;  ///< tokens, at least 1
  std::int32_t depth = 0;    ///< tokens of context before them

  std::string name() const;  ///< "pp512", "tg64 @ d4096"
};

struct SpeedOptions {
  std::int32_t repeats = 5;
  std::int32_t rowsPerPass = 512;
  compute::DType kvType = compute::DType::F32;
  double weightElementBytes = 2;  ///< 2 for bf16, 4 for f32
};

/// What the machine itself can do with the same threads.
struct MachineRates {
  double flops = 0;           ///< f32 operations a second, a fused multiply-add being 2
  double bytesPerSecond = 0;  ///< reading memory
};

struct SpeedResult {
  SpeedTest test;
  Summary tokensPerSecond;
  double flopsPerSecond = 0;  ///< at the median
  double bytesPerSecond = 0;  ///< at the median; the least that had to be read
  MachineRates machine;       ///< the best that was measured between the repeats
  /// Share of the limit that counts for the kind: arithmetic for prompts, memory for generation.
  double share() const;
};

/// `measureMachine` is called between the repeats, so that both see the same disturbances. Throws Failure if
/// memory cannot be had or the run was stopped.
SpeedResult measureSpeed(model::Decoder& decoder, compute::Backend& backend, const SpeedTest& test,
                         const SpeedOptions& options, const std::function<MachineRates()>& measureMachine,
                         std::stop_token stop);

}  // namespace spanscope::bench
