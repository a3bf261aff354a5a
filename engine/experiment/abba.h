// SPDX-License-Identifier: GPL-3.0-or-later
// The ABBA scenario: documents A, B and a question, cold; then again in the same order and in the swapped
// order. With relocation the swapped order costs what the same order costs.
#pragma once

#include "engine/experiment/statistics.h"
#include "engine/run/session.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace spanscope::experiment {

struct AbbaOptions {
  std::vector<std::int32_t> documentTokens = {64, 128, 256, 512, 1024, 2048, 4096};
  std::int32_t documents = 2;        ///< at least 2
  std::int32_t systemTokens = 24;    ///< in front of the documents; the same in every run
  std::int32_t questionTokens = 32;  ///< after them; new in every run, so that only documents can hit
  std::int32_t repeats = 15;         ///< fewest of the same and of the swapped order, taken in turns
  double seconds = 1;  ///< turns go on for so long, since short runs need many for a steady median
  std::int32_t coldRepeats = 3;
  std::uint64_t seed = 0;  ///< of the token ids
};

/// Seconds from asking to the logits of the first token, and what the cache gave.
struct AbbaCase {
  Summary seconds;
  std::int64_t cachedTokens = 0;  ///< fewest of all runs
};

struct AbbaRow {
  std::int32_t documentTokens = 0;
  std::int64_t promptTokens = 0;
  std::int64_t expectedCachedTokens = 0;  ///< of the warm runs: everything but the question
  AbbaCase cold;
  AbbaCase same;
  AbbaCase swapped;  ///< the documents in reversed order

  double swappedToSame() const { return swapped.seconds.median / same.seconds.median; }
  double coldToSame() const { return cold.seconds.median / same.seconds.median; }
};

/// Physical blocks of a pool in which the documents of the largest size stay while fresh questions pass
/// through.
std::int32_t abbaBlocks(const AbbaOptions& options, std::int32_t blockSize);

/// One row of the sweep. Token ids are drawn from 0 … vocabularySize − 1. Empties the session's cache. Throws
/// Failure if the prompt does not fit or the run was stopped.
AbbaRow measureAbba(run::Session& session, std::int32_t vocabularySize, const AbbaOptions& options,
                    std::int32_t documentTokens, std::stop_token stop);

}  // namespace spanscope::experiment
