// SPDX-License-Identifier: GPL-3.0-or-later
// The ABBA scenario: documents A, B and a question. The first run is cold. Then come runs in the same order
// and in the swapped order. With relocation, the swapped order costs as much as the same order. Open this
// file to change the benchmark of the cache.
#pragma once

#include "engine/compute/backends.h"
#include "engine/experiment/pause_hook.h"
#include "engine/experiment/speed.h"
#include "engine/experiment/statistics.h"
#include "engine/experiment/token_amount.h"
#include "engine/run/session.h"

#include <algorithm>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace spanscope::experiment {

struct AbbaOptions {
  std::vector<std::int32_t> documentTokens = {64, 128, 256, 512, 1024, 2048, 4096};
  std::int32_t documents = 2;        ///< at least 2
  std::int32_t systemTokens = 24;    ///< before the documents; equal in every run
  std::int32_t questionTokens = 32;  ///< after the documents; new in every run, so that only documents can
                                     ///< hit
  std::int32_t repeats = 15;  ///< min number of runs in the same and in the swapped order, which alternate
  double seconds = 1;         ///< min time of the runs, because a steady median of short runs needs many runs
  std::int32_t coldRepeats = 3;
  bool alone = false;      ///< each turn also asks the question without system text and documents
  std::uint64_t seed = 0;  ///< of the token ids
  PauseHook seam{};        ///< called before each run
};

/// Seconds from the request to the logits of the first token, and the tokens from the cache.
struct AbbaCase {
  Summary seconds;
  std::int64_t cachedTokens = 0;  ///< the min of all runs
};

struct AbbaRow {
  std::int32_t documentTokens = 0;
  std::int64_t promptTokens = 0;
  std::int64_t expectedCachedTokens = 0;  ///< in warm runs: everything except the question
  AbbaCase cold;
  AbbaCase same;
  AbbaCase swapped;  ///< the documents in reversed order
  AbbaCase alone;    ///< the question alone, if requested

  double swappedToSame() const { return swapped.seconds.median / same.seconds.median; }
  double coldToSame() const { return cold.seconds.median / same.seconds.median; }
};

/// The min time of a warm run. This time is the time of the question alone, plus the time to read the cached
/// keys and values.
struct AbbaFloor {
  double aloneSeconds = 0;
  double readSeconds = 0;      ///< time to read those keys and values once, at the memory's rate
  double multiplySeconds = 0;  ///< time to multiply the rows with these keys and values, at the rate of f32

  /// Returns the min seconds of a machine with free arithmetic.
  double seconds() const { return aloneSeconds + readSeconds; }
  /// Returns the min seconds of this machine.
  double boundSeconds() const { return aloneSeconds + std::max(readSeconds, multiplySeconds); }
};

/// `row` has the question alone. `questionTokens` is the number of tokens of the question.
AbbaFloor abbaFloor(const AbbaRow& row, std::int32_t questionTokens, const ModelCost& cost,
                    const compute::MachineRates& machine);

/// Returns the number of physical blocks of a pool that keeps the documents of the largest size while
/// questions change.
std::int32_t abbaBlocks(const AbbaOptions& options, std::int32_t blockSize);

/// Returns the tokens that measureAbba() computes without its min time.
TokenAmount abbaAmount(const AbbaOptions& options, std::int32_t documentTokens);

/// Measures one row of the sweep. Token ids are random from 0 … vocabularySize − 1. Empties the session's
/// cache. Throws Failure if the prompt does not fit, or when stopped.
AbbaRow measureAbba(run::Session& session, std::int32_t vocabularySize, const AbbaOptions& options,
                    std::int32_t documentTokens, std::stop_token stop);

}  // namespace spanscope::experiment
