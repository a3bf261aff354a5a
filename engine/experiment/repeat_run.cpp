// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/repeat_run.h"

#include "engine/base/error.h"
#include "engine/experiment/plus_order.h"
#include "engine/run/run_result.h"

#include <algorithm>
#include <utility>

namespace spanscope::experiment {
namespace {

plan::Plan planOrThrow(const query::Node& query, const plan::PlanOptions& options) {
  plan::PlanResult made = plan::makePlan(query, options);
  if (!made.plan) throw Failure(made.problems.front());
  if (made.plan->steps.empty()) throw Failure(errorAt("query", "nothing to generate", "a generate node"));
  return std::move(*made.plan);
}

CaseGap swapGap(std::size_t widest) {
  if (widest == 0) return CaseGap::NoPlus;
  return widest == 1 ? CaseGap::NothingToSwap : CaseGap::None;
}

PlannedCase planFloor(const query::Node& query, const plan::PlanOptions& options, std::size_t widest) {
  PlannedCase floor{.runCase = RunCase::Floor, .gap = CaseGap::NoPlus, .plan = {}};
  if (widest == 0) return floor;
  floor.gap = CaseGap::NothingLeft;
  const std::optional<query::Node> left = withoutPluses(query);
  if (!left) return floor;
  plan::PlanResult made = plan::makePlan(*left, options);
  if (!made.plan || made.plan->steps.empty()) return floor;
  floor.plan = std::move(*made.plan);
  floor.gap = CaseGap::None;
  return floor;
}

void add(CountSpan& span, std::int64_t count, bool isFirst) {
  span.least = isFirst ? count : std::min(span.least, count);
  span.most = isFirst ? count : std::max(span.most, count);
}

CaseSummary summaryOf(const std::vector<RepeatTurn>& turns, RunCase runCase) {
  CaseSummary summary;
  summary.runCase = runCase;
  std::vector<double> first;
  std::vector<double> last;
  std::vector<double> whole;
  const std::string* cold = nullptr;
  for (const RepeatTurn& turn : turns) {
    const std::optional<RunSample>& coldRun = turn[static_cast<std::size_t>(RunCase::Cold)];
    if (cold == nullptr && coldRun) cold = &coldRun->answer;
    const std::optional<RunSample>& sample = turn[static_cast<std::size_t>(runCase)];
    if (!sample) continue;
    const metrics::RunValues& measured = sample->measured;
    const bool isFirst = summary.samples++ == 0;
    if (measured.timeToFirstToken) first.push_back(*measured.timeToFirstToken);
    if (sample->lastTimeToFirstToken) last.push_back(*sample->lastTimeToFirstToken);
    if (measured.whole) whole.push_back(*measured.whole);
    add(summary.prompt, measured.promptTokens, isFirst);
    add(summary.cached, measured.cachedTokens, isFirst);
    add(summary.relocated, measured.relocatedTokens, isFirst);
    add(summary.computed, measured.computedTokens, isFirst);
    summary.peakBlocks = std::max(summary.peakBlocks, sample->peakBlocks);
    if (isFirst) summary.answer = sample->answer;
    if (cold != nullptr && sample->answer != *cold) ++summary.otherAnswers;
  }
  summary.firstToken = summarize(std::move(first));
  summary.lastFirstToken = summarize(std::move(last));
  summary.whole = summarize(std::move(whole));
  return summary;
}

}  // namespace

const char* runCaseName(RunCase runCase) {
  switch (runCase) {
    case RunCase::Cold:
      return "cold";
    case RunCase::SameOrder:
      return "same_order";
    case RunCase::Swapped:
      return "swapped";
    case RunCase::Floor:
      return "floor";
  }
  return "";
}

std::vector<PlannedCase> planCases(const query::Node& query, const plan::PlanOptions& options) {
  const plan::Plan plan = planOrThrow(query, options);
  const std::size_t widest = widestPlus(plan);
  const CaseGap swap = swapGap(widest);
  std::vector<PlannedCase> cases;
  cases.push_back({.runCase = RunCase::Cold, .gap = CaseGap::None, .plan = plan});
  cases.push_back({.runCase = RunCase::SameOrder, .gap = CaseGap::None, .plan = plan});
  cases.push_back({.runCase = RunCase::Swapped,
                   .gap = swap,
                   .plan = swap == CaseGap::None ? withReversedPluses(plan) : plan::Plan{}});
  cases.push_back(planFloor(query, options, widest));
  return cases;
}

bool measureRepeats(run::Session& session, RunMetricsSink& sink, const std::vector<PlannedCase>& cases,
                    const RepeatOptions& options, const RepeatWatch& watch, const std::stop_token& stop) {
  for (std::int32_t turn = 0; turn <= options.repeats; ++turn) {
    session.clearCache();
    RepeatTurn samples;
    for (const PlannedCase& planned : cases) {
      if (planned.gap != CaseGap::None) continue;
      if (stop.stop_requested()) return false;
      if (watch.runs) watch.runs(turn, planned.runCase);
      const run::RunResult result = session.run(planned.plan, options.run, stop);
      RunSample sample = sink.take();
      if (result.outcome == trace::RunOutcome::Stopped) return false;
      if (result.error) throw Failure(*result.error);
      samples[static_cast<std::size_t>(planned.runCase)] = std::move(sample);
    }
    if (turn > 0 && watch.turnEnded) watch.turnEnded(samples);
  }
  return true;
}

std::vector<CaseSummary> summarizeTurns(const std::vector<RepeatTurn>& turns) {
  std::vector<CaseSummary> summaries;
  for (const RunCase runCase : kRunCases) {
    CaseSummary summary = summaryOf(turns, runCase);
    if (summary.samples > 0) summaries.push_back(std::move(summary));
  }
  return summaries;
}

}  // namespace spanscope::experiment
