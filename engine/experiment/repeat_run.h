// SPDX-License-Identifier: GPL-3.0-or-later
// One query, run again and again: with an empty cache, in the same order, with what stands under plus in
// another order, and without it. What a cache saves, on the query itself.
#pragma once

#include "engine/experiment/run_figure_sink.h"
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

/// In the order in which a turn runs them.
enum class RunCase : std::uint8_t {
  Cold,       ///< with an empty cache
  SameOrder,  ///< once more
  /// With the children of every plus reversed, an order that the cache has not seen.
  Swapped,
  /// Without what stands under plus, what stands before it being cached: the least that any order costs.
  Floor,
};
inline constexpr std::array kRunCases = {RunCase::Cold, RunCase::SameOrder, RunCase::Swapped, RunCase::Floor};
/// "cold", "same_order", "swapped", "floor": for files.
const char* runCaseName(RunCase runCase);

/// Why a query has no such case.
enum class CaseGap : std::uint8_t {
  None,           ///< it has
  NoPlus,         ///< there is no plus in any prompt
  NothingToSwap,  ///< no plus has two children
  NothingLeft,    ///< without its pluses there is no query, or nothing to generate
};

/// How a case is run.
struct PlannedCase {
  RunCase runCase = RunCase::Cold;
  CaseGap gap = CaseGap::None;
  plan::Plan plan;  ///< empty where there is a gap
};

/// All cases of a query that has been through every stage before planning. Throws Failure if it cannot be
/// planned or generates nothing.
std::vector<PlannedCase> planCases(const query::Node& query, const plan::PlanOptions& options);

/// One run of each case, by its number.
using RepeatTurn = std::array<std::optional<RunSample>, kRunCases.size()>;

struct RepeatOptions {
  run::RunOptions run;
  std::int32_t repeats = 7;  ///< turns that count, at least 1
};

/// Told on the thread that measures; each may be empty.
struct RepeatWatch {
  /// Turn 0 is for warming up.
  std::function<void(std::int32_t turn, RunCase runCase)> runs;
  std::function<void(const RepeatTurn& turn)> turnEnded;  ///< of those that count
};

/// Runs every case that there is, turn after turn, and empties the cache before each of them. The first turn
/// does not count: in it a backend brings its tables and threads into being, and the weights into memory.
/// `sink` is that of the session. False: it was stopped, and the turns that ended stand. Throws Failure where
/// a run failed.
bool measureRepeats(run::Session& session, RunFigureSink& sink, const std::vector<PlannedCase>& cases,
                    const RepeatOptions& options, const RepeatWatch& watch, const std::stop_token& stop);

/// A count over several runs.
struct CountSpan {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool operator==(const CountSpan&) const = default;
};

/// What the turns so far say of one case.
struct CaseSummary {
  RunCase runCase = RunCase::Cold;
  std::size_t samples = 0;
  Summary firstToken;      ///< seconds, RunFigures::timeToFirstToken
  Summary lastFirstToken;  ///< seconds, of the step that stands last in the plan
  Summary whole;           ///< seconds
  CountSpan prompt;
  CountSpan cached;
  CountSpan relocated;
  CountSpan computed;
  std::int32_t peakBlocks = 0;
  std::string answer;            ///< of its first run
  std::size_t otherAnswers = 0;  ///< runs whose answer is not that of the first cold run
};

/// Of the cases that were run, in their order.
std::vector<CaseSummary> summarizeTurns(const std::vector<RepeatTurn>& turns);

}  // namespace spanscope::experiment
