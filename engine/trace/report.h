// SPDX-License-Identifier: GPL-3.0-or-later
// What a trace says, as text for people.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/event.h"
#include "engine/trace/event_words.h"
#include "engine/trace/hit_rate.h"
#include "engine/trace/residency.h"
#include "engine/trace/token_account.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace spanscope::trace {

/// One line without its end: number, time in seconds, name, run, request, node and what happened. Control
/// characters and line ends of texts are escaped, so that a trace cannot drive the terminal that shows it;
/// long texts are cut.
std::string describe(const Event& event);

/// Whether an event has a line of its own in the log, and how severe it is.
std::optional<Severity> severityOf(const Event& event);
/// That line; empty where it has none.
EventWords wordsOf(const Event& event);
/// What a person calls the event: "Token generated". Marked by forTranslation("Events", …).
const char* plainNameOf(const Event& event);
/// What more is worth a few words behind the plain name; empty where the name says it all.
EventWords detailOf(const Event& event);

/// Sums over a trace. Tokens of a request are those of its StepMetrics where it has any, else what its
/// admission, passes and tokens say. Times are seconds.
struct TraceStats {
  std::uint64_t events = 0;
  std::uint64_t lost = 0;  ///< events that snapshots stand for
  double duration = 0;     ///< from the first event to the last
  std::uint64_t runs = 0;
  std::uint64_t requests = 0;
  std::uint64_t finishedRequests = 0;
  std::uint64_t servedRequests = 0;       ///< that servers answered
  std::uint64_t unaccountedRequests = 0;  ///< of these, those of which it is not known what was found
  std::int64_t unaccountedTokens = 0;     ///< of their prompts, which no other count has
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
  ResidencyFigures residency;  ///< of the contents that were evicted
  std::uint64_t preemptions = 0;
  /// Of requests that were preempted and resumed, which the counts above leave out.
  std::int64_t resumedTokens = 0;        ///< of prompts and replies
  std::int64_t resumedCachedTokens = 0;  ///< of them found in the cache
  std::int64_t recomputedTokens = 0;     ///< computed before, evicted, and computed again
  std::uint64_t attentionLeftOut = 0;    ///< records of it that are missing for their run's limit
  std::uint64_t passes = 0;
  double meanRowsPerPass = 0;
  double passTime = 0;           ///< all passes
  double timeToFirstToken = 0;   ///< median over the steps that made a token; 0 without
  double interTokenLatency = 0;  ///< median over the steps that made two or more; 0 without
  std::uint64_t warnings = 0;
  std::uint64_t errors = 0;
  bool operator==(const TraceStats&) const = default;
};

TraceStats stats(std::span<const Event> events);

}  // namespace spanscope::trace
