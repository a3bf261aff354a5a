// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one query repeatedly: with an empty cache, in the same order, with the children of plus in another
// order, and without plus. This shows what a cache saves for this query.
#pragma once

#include "engine/experiment/run_metrics_sink.h"
#include "engine/experiment/statistics.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// The cases of a turn, in the order in which they run.
enum class RunCase : std::uint8_t {
  Cold,       ///< with an empty cache
  SameOrder,  ///< the same query again
  /// The children of every plus are reversed, an order that the cache has not seen.
  Swapped,
  /// Without the children of plus; what stands before the plus is cached. This is the least that any order
  /// costs.
  Floor,
};
inline constexpr std::array kRunCases = {RunCase::Cold, RunCase::SameOrder, RunCase::Swapped, RunCase::Floor};
/// "cold", "same_order", "swapped", "floor": for files.
const char* runCaseName(RunCase runCase);

/// Why a query lacks a case.
enum class CaseGap : std::uint8_t {
  None,           ///< it has the case
  NoPlus,         ///< no prompt contains a plus
  NothingToSwap,  ///< no plus has at least two children
  NothingLeft,    ///< without its pluses there is no query, or nothing to generate
};

/// A case with its plan.
struct PlannedCase {
  RunCase runCase = RunCase::Cold;
  CaseGap gap = CaseGap::None;
  plan::Plan plan;  ///< empty if there is a gap
};

/// All cases of a query that has passed every stage before planning. Throws Failure if it cannot be planned
/// or generates nothing.
std::vector<PlannedCase> planCases(const query::Node& query, const plan::PlanOptions& options);

/// One run of each case, by the number of the case.
using RepeatTurn = std::array<std::optional<RunSample>, kRunCases.size()>;

struct RepeatOptions {
  run::RunOptions run;
  std::int32_t repeats = 7;  ///< number of turns that count, at least 1
};

/// Callbacks on the measuring thread; each may be empty.
struct RepeatWatch {
  /// Turn 0 is for warming up.
  std::function<void(std::int32_t turn, RunCase runCase)> runs;
  std::function<void(const RepeatTurn& turn)> turnEnded;  ///< for turns that count
};

/// Runs every existing case, turn after turn, and empties the cache before each turn. The first turn does not
/// count: in it, the backend makes its tables and threads and reads the weights into memory. `sink` must be
/// the session's sink. Returns false if it was stopped; the finished turns stay. Throws Failure if a run
/// failed.
bool measureRepeats(run::Session& session, RunMetricsSink& sink, const std::vector<PlannedCase>& cases,
                    const RepeatOptions& options, const RepeatWatch& watch, const std::stop_token& stop);

/// A count over several runs.
struct CountSpan {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool operator==(const CountSpan&) const = default;
};

/// Summary of one case over the turns so far.
struct CaseSummary {
  RunCase runCase = RunCase::Cold;
  std::size_t samples = 0;
  Summary firstToken;      ///< seconds, RunValues::timeToFirstToken
  Summary lastFirstToken;  ///< seconds, of the step that is last in the plan
  Summary whole;           ///< seconds
  CountSpan prompt;
  CountSpan cached;
  CountSpan relocated;
  CountSpan computed;
  std::int32_t peakBlocks = 0;
  std::string answer;            ///< of the first run of this case
  std::size_t otherAnswers = 0;  ///< number of runs with another answer than the first cold run
};

/// Summaries of the cases that ran, in order.
std::vector<CaseSummary> summarizeTurns(const std::vector<RepeatTurn>& turns);

}  // namespace spanscope::experiment
