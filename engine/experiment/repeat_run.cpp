// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/repeat_run.h"

#include "engine/base/error.h"
#include "engine/plan/prompt_children.h"
#include "engine/query/node_parts.h"
#include "engine/run/run_result.h"
#include "engine/trace/replay.h"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

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

namespace {

/// One run alone does not determine the state of the pool. A replay without pool events still has the right
/// state of runs and requests.
bool isOfPool(const trace::Payload& payload) {
  return std::visit(
      []<class T>(const T&) {
        return std::is_same_v<T, trace::SessionStarted> || std::is_same_v<T, trace::BlockLookedUp> ||
               std::is_same_v<T, trace::BlockAllocated> || std::is_same_v<T, trace::BlockShared> ||
               std::is_same_v<T, trace::BlockStored> || std::is_same_v<T, trace::BlockRemoved> ||
               std::is_same_v<T, trace::BlockCopied> || std::is_same_v<T, trace::BlockReleased> ||
               std::is_same_v<T, trace::CacheCleared>;
      },
      payload);
}

/// Returns the time to first token of the last step in the plan.
std::optional<double> lastFirstToken(const trace::Progress& progress, const trace::RunState& run) {
  const trace::StepMetrics* last = nullptr;
  for (const RequestId id : run.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end() || !found->second.metrics) continue;
    const trace::StepMetrics& metrics = *found->second.metrics;
    if (last == nullptr || metrics.step >= last->step) last = &metrics;
  }
  if (last == nullptr || last->generatedTokens == 0) return std::nullopt;
  return last->timeToFirstToken;
}

}  // namespace

RunMetricsSink::RunMetricsSink() : m_start(Clock::now()) {}

std::uint64_t RunMetricsSink::send(RunId run, RequestId request, const NodePath& node,
                                   trace::Payload payload) {
  ++m_sequence;
  countBlocks(payload);
  if (isOfPool(payload)) return m_sequence;
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - m_start);
  m_events.push_back({.sequence = m_sequence,
                      .time = time.count(),
                      .session = 1,
                      .run = run,
                      .request = request,
                      .node = node,
                      .payload = std::move(payload)});
  return m_sequence;
}

void RunMetricsSink::countBlocks(const trace::Payload& payload) {
  if (std::holds_alternative<trace::BlockAllocated>(payload)) {
    ++m_held;
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&payload)) {
    if (shared->references == 1) ++m_held;
  } else if (const auto* released = std::get_if<trace::BlockReleased>(&payload)) {
    if (released->references == 0) --m_held;
  }
  m_peak = std::max(m_peak, m_held);
}

RunSample RunMetricsSink::take() {
  trace::Replay replay;
  for (const trace::Event& event : m_events) replay.apply(event);
  m_events.clear();
  RunSample sample;
  sample.peakBlocks = std::exchange(m_peak, m_held);
  const trace::Progress& progress = replay.progress();
  if (progress.runs.empty()) return sample;
  const trace::RunState& run = std::prev(progress.runs.end())->second;
  sample.measured = metrics::valuesOf(progress, run);
  sample.lastTimeToFirstToken = lastFirstToken(progress, run);
  sample.answer = run.answer;
  return sample;
}

namespace {

std::size_t widestIn(const plan::PromptNode& node) {
  const auto* plus = std::get_if<plan::PromptPlus>(&node.value);
  std::size_t widest = plus == nullptr ? 0 : plus->children.size();
  for (const plan::PromptNode& child : childrenOf(node)) widest = std::max(widest, widestIn(child));
  return widest;
}

void reverseIn(plan::PromptNode& node) {
  if (auto* plus = std::get_if<plan::PromptPlus>(&node.value)) std::ranges::reverse(plus->children);
  for (plan::PromptNode& child : childrenOf(node)) reverseIn(child);
}

/// Removes the plus nodes from the node. Returns false if nothing is left of the node.
bool takeOut(query::Node& node) {
  if (auto* join = node.as<query::Join>()) {
    if (join->kind == query::JoinKind::Plus) return false;
    if (join->children.empty()) return true;
    std::erase_if(join->children, [](query::Node& child) { return !takeOut(child); });
    return !join->children.empty();
  }
  bool isWhole = true;
  query::forEachChild(
      node, [&isWhole](query::Node& child, const std::string&) { isWhole = takeOut(child) && isWhole; });
  return isWhole;
}

}  // namespace

std::size_t widestPlus(const plan::Plan& plan) {
  std::size_t widest = 0;
  for (const plan::Step& step : plan.steps) widest = std::max(widest, widestIn(step.prompt));
  return widest;
}

plan::Plan withReversedPluses(plan::Plan plan) {
  for (plan::Step& step : plan.steps) reverseIn(step.prompt);
  return plan;
}

std::optional<query::Node> withoutPluses(query::Node query) {
  if (!takeOut(query)) return std::nullopt;
  return query;
}

}  // namespace spanscope::experiment
