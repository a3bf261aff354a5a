// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one query repeatedly: with an empty cache, in the same order, with swapped children of plus, and
// without plus. The results show how much the cache saves for this query. Open this file to add a case.
#pragma once

#include "engine/experiment/statistics.h"
#include "engine/metrics/run_facts.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/run/run_options.h"
#include "engine/run/session.h"
#include "engine/trace/sink.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::experiment {

/// The results of one measured run.
struct RunSample {
  metrics::RunValues measured;
  /// Seconds, for the last step of the plan.
  std::optional<double> lastTimeToFirstToken;
  std::int32_t peakBlocks = 0;  ///< max number of pool blocks in use at the same time
  std::string answer;
};

/// Records the events that the measured session sends during a run. Slow work is done after the run.
class RunMetricsSink final : public trace::Sink {
 public:
  RunMetricsSink();

  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override;

  /// Returns the results of the run that ended since the previous call. Call this once per run.
  RunSample take();

 private:
  using Clock = std::chrono::steady_clock;

  void countBlocks(const trace::Payload& payload);

  Clock::time_point m_start;
  std::uint64_t m_sequence = 0;
  std::vector<trace::Event> m_events;  ///< all events except those about blocks
  std::int32_t m_held = 0;             ///< number of blocks that have references
  std::int32_t m_peak = 0;
};

/// The cases of a round, in the order in which they run.
enum class RunCase : std::uint8_t {
  Cold,       ///< with an empty cache
  SameOrder,  ///< the same query again
  /// The children of every plus are reversed, an order that is not in the cache.
  Swapped,
  /// Without the children of plus. The text before the plus is cached. No order can cost less.
  Floor,
};
inline constexpr std::array kRunCases = {RunCase::Cold, RunCase::SameOrder, RunCase::Swapped, RunCase::Floor};
/// Returns the name in files: "cold", "same_order", "swapped", "floor".
const char* runCaseName(RunCase runCase);

/// The reason why a query lacks a case.
enum class CaseGap : std::uint8_t {
  None,           ///< the query has the case
  NoPlus,         ///< no prompt contains a plus
  NothingToSwap,  ///< no plus has at least two children
  NothingLeft,    ///< without its plus nodes there is no query, or nothing to generate
};

/// A case with its plan.
struct PlannedCase {
  RunCase runCase = RunCase::Cold;
  CaseGap gap = CaseGap::None;
  plan::Plan plan;  ///< empty if there is a gap
};

/// Makes all cases of a query that has passed every stage before planning. Throws Failure if it cannot be
/// planned or generates nothing.
std::vector<PlannedCase> planCases(const query::Node& query, const plan::PlanOptions& options);

/// One run of each case, by the index of the case.
struct RepeatTurn : std::array<std::optional<RunSample>, kRunCases.size()> {};

struct RepeatOptions {
  run::RunOptions run;
  std::int32_t repeats = 7;  ///< number of rounds that count, at least 1
};

/// Callbacks on the measuring thread. Each callback may be empty.
struct RepeatWatch {
  /// Called before each run. Round 0 is for warming up.
  std::function<void(std::int32_t turn, RunCase runCase)> runs;
  std::function<void(const RepeatTurn& turn)> turnEnded;  ///< for rounds that count
};

/// Runs every existing case, round by round. Empties the cache before each round. The first round does not
/// count. In the first round, the backend makes its tables and threads, and reads the weights into memory.
/// `sink` must be the session's sink. Returns false after a stop; finished rounds remain. Throws Failure if a
/// run failed.
bool measureRepeats(run::Session& session, RunMetricsSink& sink, const std::vector<PlannedCase>& cases,
                    const RepeatOptions& options, const RepeatWatch& watch, const std::stop_token& stop);

/// The range of a count over several runs.
struct CountSpan {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool operator==(const CountSpan&) const = default;
};

/// Summary of one case over the finished rounds.
struct CaseSummary {
  RunCase runCase = RunCase::Cold;
  std::size_t samples = 0;
  Summary firstToken;      ///< seconds, RunValues::timeToFirstToken
  Summary lastFirstToken;  ///< seconds, for the last step of the plan
  Summary whole;           ///< seconds
  CountSpan prompt;
  CountSpan cached;
  CountSpan relocated;
  CountSpan computed;
  std::int32_t peakBlocks = 0;
  std::string answer;            ///< the answer of the first run of this case
  std::size_t otherAnswers = 0;  ///< number of runs with another answer than the first cold run
};

/// Returns the summaries of the cases that ran, in order.
std::vector<CaseSummary> summarizeTurns(const std::vector<RepeatTurn>& turns);

/// Returns the number of children of the widest plus in any prompt, or 0 without a plus.
std::size_t widestPlus(const plan::Plan& plan);

/// Returns the plan with the children of every plus in reversed order, including nested pluses. Steps and
/// their seeds do not change. An answer under a plus is the same answer, at another place.
plan::Plan withReversedPluses(plan::Plan plan);

/// Returns the query without its pluses. Also removes joins without other contents, and operators that lost
/// an input. Returns nothing if no query is left.
std::optional<query::Node> withoutPluses(query::Node query);

}  // namespace spanscope::experiment
