// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over all events of a trace: `spanq trace stats` shows them.
#pragma once

#include "engine/metrics/meters.h"
#include "engine/metrics/pool_metrics.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <span>
#include <string>

namespace spanscope::metrics {

/// Sums over a trace. Times are seconds. The tokens of a request come from its StepMetrics. Without these,
/// they come from its other events.
struct TraceStats {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  ///< events that snapshots replaced
  double duration = 0;     ///< from the first event to the last
  std::uint64_t runs = 0;
  std::uint64_t requests = 0;
  std::uint64_t finishedRequests = 0;
  std::uint64_t servedRequests = 0;       ///< requests that servers answered
  std::uint64_t unaccountedRequests = 0;  ///< requests whose server reported no hits
  std::int64_t unaccountedTokens = 0;     ///< their prompt tokens; no other count has them
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< relocated ones included
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;  ///< of prompts
  std::int64_t generatedTokens = 0;
  PromptAccount account;  ///< of all prompts, as the window counts them
  double hitRate = 0;     ///< cached / prompt tokens; 0 without prompts
  /// Of the newest requests (HitRateWindow) since the cache was emptied last.
  LookupSums recent;
  std::uint64_t blocksLookedUp = 0;
  std::uint64_t blocksHit = 0;  ///< at the position where they were stored
  std::uint64_t blocksRelocated = 0;
  std::uint64_t blocksPartial = 0;
  std::uint64_t blocksMissed = 0;
  std::uint64_t blocksAllocated = 0;
  std::uint64_t blocksStored = 0;
  std::uint64_t blocksEvicted = 0;
  std::uint64_t blocksCopied = 0;
  ResidencyMetrics residency;  ///< of the contents that were evicted
  std::uint64_t preemptions = 0;
  /// Of requests that were preempted and resumed, which the counts above leave out.
  std::int64_t resumedTokens = 0;        ///< of prompts and answers
  std::int64_t resumedCachedTokens = 0;  ///< the cache hits among them
  std::int64_t recomputedTokens = 0;     ///< computed before, evicted, and computed again
  std::uint64_t attentionLeftOut = 0;    ///< records of attention beyond the limit of their run
  std::uint64_t passes = 0;
  double meanRowsPerPass = 0;
  double passTime = 0;           ///< all passes
  double timeToFirstToken = 0;   ///< median over the steps that made a token; 0 without
  double interTokenLatency = 0;  ///< median over the steps that made two or more; 0 without
  std::uint64_t warnings = 0;
  std::uint64_t errors = 0;
  bool operator==(const TraceStats&) const = default;
};

TraceStats stats(std::span<const trace::Event> events);

/// The sums as a table of two columns, one line for each, ending with a line end.
std::string statsTable(const TraceStats& stats);

}  // namespace spanscope::metrics
