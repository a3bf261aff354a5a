// SPDX-License-Identifier: GPL-3.0-or-later
// Computes sums over all events of a trace, for `spanq trace stats`. Open this file to add a sum.
#pragma once

#include "engine/metrics/meters.h"
#include "engine/metrics/pool_metrics.h"
#include "engine/metrics/token_account.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <span>
#include <string>

namespace spanscope::metrics {

/// Sums over a trace. Times are seconds. The tokens of a request come from its StepMetrics. Without
/// StepMetrics, the tokens come from the other events of the request.
struct TraceStats {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  ///< events that snapshots replaced
  double duration = 0;     ///< from the first event to the last
  std::uint64_t runs = 0;
  std::uint64_t requests = 0;
  std::uint64_t finishedRequests = 0;
  std::uint64_t servedRequests = 0;       ///< requests that servers answered
  std::uint64_t unaccountedRequests = 0;  ///< requests whose server reported no hits
  std::int64_t unaccountedTokens = 0;     ///< prompt tokens of these requests; no other count includes them
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;  ///< including relocated tokens
  std::int64_t relocatedTokens = 0;
  std::int64_t computedTokens = 0;  ///< computed prompt tokens
  std::int64_t generatedTokens = 0;
  PromptAccount account;  ///< sum over all prompts, as in the window
  double hitRate = 0;     ///< cached / prompt tokens; 0 without prompts
  /// Sums over the newest requests (HitRateWindow) since the cache was last emptied.
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
  ResidencyMetrics residency;  ///< medians over the evicted contents
  std::uint64_t preemptions = 0;
  /// These sums are over preempted and resumed requests. The counts above do not include these requests.
  std::int64_t resumedTokens = 0;        ///< computed prompt tokens and answers
  std::int64_t resumedCachedTokens = 0;  ///< cache hits among these tokens
  std::int64_t recomputedTokens = 0;     ///< tokens that were computed, evicted, and recomputed
  std::uint64_t attentionLeftOut = 0;    ///< attention records beyond the limit of their run
  std::uint64_t passes = 0;
  double meanRowsPerPass = 0;
  double passTime = 0;           ///< time of all forward passes
  double timeToFirstToken = 0;   ///< median over the steps that generated a token; 0 without such steps
  double interTokenLatency = 0;  ///< median over the steps that generated two tokens or more; 0 without such
                                 ///< steps
  std::uint64_t warnings = 0;
  std::uint64_t errors = 0;
  bool operator==(const TraceStats&) const = default;
};

TraceStats stats(std::span<const trace::Event> events);

/// Returns the sums as a table of two columns. Each sum has one line, and the table ends with a line end.
std::string statsTable(const TraceStats& stats);

}  // namespace spanscope::metrics
