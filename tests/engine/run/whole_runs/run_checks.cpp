// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/run/whole_runs/run_checks.h"

#include "engine/run/run_result.h"
#include "tests/support/equal_bits.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace spanscope::test {

using testing::equalBits;
using trace::RunOutcome;
using trace::StepOutcome;

const char* nameOf(Subject subject) {
  switch (subject) {
    case Subject::Exception:
      return "exception";
    case Subject::Outcome:
      return "outcome";
    case Subject::Prompt:
      return "prompt";
    case Subject::Answer:
      return "reply";
    case Subject::Probability:
      return "probability";
    case Subject::Text:
      return "text";
    case Subject::Attention:
      return "attention";
    case Subject::Figures:
      return "figures";
    case Subject::Prediction:
      return "prediction";
    case Subject::Trace:
      return "trace";
    case Subject::Replay:
      return "replay";
    case Subject::Leak:
      return "leak";
  }
  return "";
}

namespace {

const char* nameOf(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::Finished:
      return "finished";
    case RunOutcome::Failed:
      return "failed";
    case RunOutcome::Stopped:
      return "stopped";
  }
  return "";
}

std::string said(const run::RunResult& result) {
  return nameOf(result.outcome) + (result.error ? ": " + result.error->message() : std::string());
}

class Found {
 public:
  void add(Subject subject, std::string text) {
    m_all.push_back({.run = 0, .subject = subject, .text = std::move(text)});
  }
  Differences take() { return std::move(m_all); }

 private:
  Differences m_all;
};

std::string listed(const std::vector<TokenId>& tokens) {
  std::string text;
  for (const TokenId token : tokens) text += (text.empty() ? "" : " ") + std::to_string(token);
  return text;
}

void compareAttention(const ReportedReply& warm, const ReportedReply& cold, const std::string& where,
                      Found& found) {
  for (const auto& [index, looked] : warm.looked) {
    const auto same = cold.looked.find(index);
    if (same == cold.looked.end() || same->second.keySegments != looked.keySegments ||
        !equalBits(same->second.mass, looked.mass) || !equalBits(same->second.first, looked.first))
      return found.add(Subject::Attention, where + "token " + std::to_string(index) + " looked elsewhere");
  }
  for (const auto& [index, mass] : warm.onTeammates) {
    const auto same = cold.onTeammates.find(index);
    if (same == cold.onTeammates.end() || !equalBits(same->second, mass))
      return found.add(Subject::Attention, where + "token " + std::to_string(index) + " looked at others");
  }
  for (const auto& [place, mass] : warm.rows) {
    const auto same = cold.rows.find(place);
    if (same == cold.rows.end() || same->second.keySpan != mass.keySpan) continue;
    if (!(same->second.keyBlocks == mass.keyBlocks && equalBits(same->second.mass, mass.mass)))
      return found.add(Subject::Attention, where + "row " + std::to_string(std::get<2>(place)) +
                                               " of segment " + std::to_string(std::get<1>(place)) +
                                               " has another map in layer " +
                                               std::to_string(std::get<0>(place)));
  }
}

void compareStep(const RunRecord& warm, const run::StepResult& step, const RunRecord& cold,
                 const run::StepResult& other, Found& found) {
  const std::string where = "step " + std::to_string(step.step) + ": ";
  const ReportedReply& reported = warm.answerOf(step);
  const ReportedReply& expected = cold.answerOf(other);
  if (reported.prompt != expected.prompt) return found.add(Subject::Prompt, where + "another span table");
  const bool isCut = step.outcome == StepOutcome::Stopped;
  const std::size_t count = step.tokens.size();
  const bool isPart = count <= other.tokens.size() &&
                      std::equal(step.tokens.begin(), step.tokens.end(), other.tokens.begin());
  if (!isPart || (!isCut && (count != other.tokens.size() || step.outcome != other.outcome)))
    return found.add(Subject::Answer,
                     where + "replied " + listed(step.tokens) + ", cold " + listed(other.tokens));
  std::vector<float> probabilities = expected.probabilities;
  probabilities.resize(std::min(count, probabilities.size()));
  if (!equalBits(reported.probabilities, probabilities)) {
    const auto at = std::mismatch(reported.probabilities.begin(), reported.probabilities.end(),
                                  probabilities.begin(), probabilities.end());
    return found.add(Subject::Probability,
                     where + "token " + std::to_string(at.first - reported.probabilities.begin()));
  }
  if (!isCut && step.text != other.text)
    found.add(Subject::Text, where + "\"" + step.text + "\", cold \"" + other.text + "\"");
  compareAttention(reported, expected, where, found);
}

// ---- predictions ------------------------------------------------------------------------------------------

std::string shown(const char* name, const run::CountRange& range, std::int64_t count) {
  return std::string(name) + " " + std::to_string(count) + ", predicted " + std::to_string(range.least) +
         " to " + (range.bounded() ? std::to_string(range.most) : "any");
}

std::string shown(const trace::BlockLookedUp& block) {
  return "segment " + std::to_string(block.segment) + ", block " + std::to_string(block.virtualIndex) + ", " +
         std::to_string(block.tokens) + " of " + std::to_string(block.wanted) + " tokens at " +
         std::to_string(block.base) + ", outcome " + std::to_string(static_cast<int>(block.outcome)) +
         ", reason " + std::to_string(static_cast<int>(block.reason));
}

/// What does not agree; empty if all does.
std::string predictionFault(const run::StepPrediction& predicted, const run::StepResult& step,
                            const ReportedReply& reported) {
  const trace::StepMetrics& metrics = step.metrics;
  const std::tuple<const char*, run::CountRange, std::int64_t> rows[] = {
      {"prompt", predicted.prompt, metrics.promptTokens},
      {"cached", predicted.cached, metrics.cachedTokens},
      {"relocated", predicted.relocated, metrics.relocatedTokens},
      {"computed", predicted.computed, metrics.computedTokens},
      {"evicted", predicted.evicted, reported.evicted}};
  for (const auto& [name, range, count] : rows) {
    if (!range.holds(count)) return shown(name, range, count);
  }
  if (predicted.doubt != run::Doubt::None) return {};
  for (const auto& [name, range, count] : rows) {
    if (std::string(name) != "evicted" && !range.known()) return "not sure of " + shown(name, range, count);
  }
  if (reported.lookups.size() != predicted.blocks.size()) return "another number of blocks";
  for (std::size_t i = 0; i < reported.lookups.size(); ++i) {
    const auto facts = [](const trace::BlockLookedUp& block) {
      return std::tuple(block.segment, block.virtualIndex, block.outcome, block.tokens, block.wanted,
                        block.base);
    };
    const bool hasReason =
        !predicted.reasonsAreSure || reported.lookups[i].reason == predicted.blocks[i].reason;
    if (facts(reported.lookups[i]) == facts(predicted.blocks[i]) && hasReason) continue;
    return "block " + std::to_string(i) + ": " + shown(reported.lookups[i]) + "; predicted " +
           shown(predicted.blocks[i]);
  }
  return {};
}

}  // namespace

Differences compareRuns(const RunRecord& warm, const RunRecord& cold) {
  Found found;
  const bool isWhole = warm.result.outcome == RunOutcome::Finished;
  if (isWhole && cold.result.outcome != RunOutcome::Finished)
    found.add(Subject::Outcome, "finished, cold " + said(cold.result));
  for (const run::StepResult& step : warm.result.steps) {
    if (step.outcome == StepOutcome::Failed) continue;
    const auto same = std::find_if(cold.result.steps.begin(), cold.result.steps.end(),
                                   [&](const auto& other) { return other.step == step.step; });
    if (same == cold.result.steps.end() || same->outcome == StepOutcome::Failed) {
      // A cold run that fails ends before others of its steps.
      if (cold.result.outcome == RunOutcome::Finished)
        found.add(Subject::Outcome, "step " + std::to_string(step.step) + " ended, cold it did not");
      continue;
    }
    if (same->outcome == StepOutcome::Stopped) continue;
    compareStep(warm, step, cold, *same, found);
  }
  if (isWhole && cold.result.outcome == RunOutcome::Finished) {
    if (warm.result.steps.size() != cold.result.steps.size())
      found.add(Subject::Outcome, std::to_string(warm.result.steps.size()) + " steps ended, cold " +
                                      std::to_string(cold.result.steps.size()));
    if (warm.result.answer != cold.result.answer) found.add(Subject::Text, "another answer");
  }
  return found.take();
}

Differences checkPrediction(const run::Prediction& predicted, const plan::Plan& plan, const RunRecord& ran) {
  Found found;
  if (ran.result.outcome == RunOutcome::Failed) {
    if (!predicted.error) found.add(Subject::Prediction, "not foreseen: " + said(ran.result));
    return found.take();
  }
  if (predicted.errorIsCertain) {
    found.add(Subject::Prediction, "finished, predicted to fail: " + predicted.error->message());
    return found.take();
  }
  for (const run::StepResult& step : ran.result.steps) {
    const std::string where = "step " + std::to_string(step.step) + ": ";
    const auto own = std::find_if(predicted.steps.begin(), predicted.steps.end(),
                                  [&](const auto& other) { return other.step == step.step; });
    if (own == predicted.steps.end()) {
      // After a step that may fail there are no values.
      if (!predicted.error) found.add(Subject::Prediction, where + "not predicted");
      continue;
    }
    if (const std::string fault = predictionFault(*own, step, ran.answerOf(step)); !fault.empty())
      found.add(Subject::Prediction, where + doubtName(own->doubt) + ": " + fault);
  }
  const bool isSure = std::all_of(predicted.steps.begin(), predicted.steps.end(),
                                  [](const auto& step) { return step.doubt == run::Doubt::None; });
  const bool areApart =
      std::all_of(plan.steps.begin(), plan.steps.end(), [](const auto& step) { return step.needs.empty(); });
  if (isSure && areApart && predicted.steps.size() == ran.result.steps.size()) {
    std::vector<RequestId> order;
    for (const StepIndex index : predicted.order) {
      for (const run::StepResult& step : ran.result.steps) {
        if (step.step == index) order.push_back(step.request);
      }
    }
    if (order != ran.admitted) found.add(Subject::Prediction, "another order");
  }
  return found.take();
}

Differences checkTrace(const WatchingSink& sink, const RunRecord& ran, const trace::PoolState& pool,
                       RunId run) {
  Found found;
  if (sink.error()) {
    found.add(Subject::Trace, sink.error()->message());
    return found.take();
  }
  if (!(sink.replay().pool().state() == pool)) found.add(Subject::Trace, "the events give another pool");
  for (std::size_t i = 0; i < pool.blocks.size(); ++i) {
    if (pool.blocks[i].references == 0) continue;
    found.add(Subject::Leak, "block " + std::to_string(i) + " is still held");
    break;
  }
  const trace::Progress& reported = sink.replay().progress();
  const trace::RunState& state = reported.runs.at(run);
  if (state.outcome != ran.result.outcome || state.answer != ran.result.answer)
    found.add(Subject::Trace, "another outcome or answer");
  for (const run::StepResult& step : ran.result.steps) {
    const trace::RequestState& request = reported.requests.at(step.request);
    const trace::StepMetrics& metrics = step.metrics;
    const ReportedReply& answer = ran.answerOf(step);
    const bool isSame =
        request.run == run && request.step == step.step && request.outcome == step.outcome &&
        request.phase == trace::RequestPhase::Finished && request.text == step.text &&
        request.generatedTokens == static_cast<std::int64_t>(step.tokens.size()) &&
        request.promptTokens == metrics.promptTokens && request.cachedTokens == metrics.cachedTokens &&
        request.relocatedTokens == metrics.relocatedTokens && request.preemptions == metrics.preemptions &&
        request.recomputedTokens == metrics.recomputedTokens;
    if (!isSame || !answer.isInOrder || answer.tokens != step.tokens)
      found.add(Subject::Trace, "step " + std::to_string(step.step) + ": its events give other figures");
    // Figures of a step are those of its first admission.
    if (step.outcome != StepOutcome::Stopped && step.outcome != StepOutcome::Failed &&
        metrics.preemptions == 0 && request.computedTokens != metrics.computedTokens)
      found.add(Subject::Trace, "step " + std::to_string(step.step) + ": " +
                                    std::to_string(request.computedTokens) + " tokens computed, told " +
                                    std::to_string(metrics.computedTokens));
  }
  return found.take();
}

Differences checkFigures(const RunRecord& ran) {
  Found found;
  for (const run::StepResult& step : ran.result.steps) {
    const trace::StepMetrics& metrics = step.metrics;
    if (metrics.promptTokens == 0) continue;  // it was never admitted
    const bool addsUp = metrics.cachedTokens + metrics.computedTokens == metrics.promptTokens &&
                        metrics.relocatedTokens <= metrics.cachedTokens && metrics.computedTokens > 0 &&
                        metrics.cachedTokens >= 0 && metrics.relocatedTokens >= 0;
    if (!addsUp) found.add(Subject::Figures, "step " + std::to_string(step.step) + " does not add up");
  }
  return found.take();
}

}  // namespace spanscope::test
