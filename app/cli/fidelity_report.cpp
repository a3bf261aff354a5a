// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/fidelity_report.h"

#include "app/cli/bench_report.h"
#include "app/cli/run_printer.h"
#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/run/finished_reply.h"
#include "engine/run/run_result.h"
#include "engine/trace/fidelity_figures.h"
#include "engine/workbench/service/fidelity_work.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <ostream>
#include <span>

namespace spanscope::cli {
namespace {

constexpr int kDeviationDigits = 3;

trace::FidelityFigures figuresOf(const trace::FidelityMeasured& measured) {
  const trace::FidelityMeasured* one = &measured;
  return trace::fidelityOf(std::span(&one, 1));
}

trace::FidelityFigures figuresOf(const std::vector<MeasuredStep>& measured) {
  std::vector<const trace::FidelityMeasured*> all;
  for (const MeasuredStep& step : measured) all.push_back(&step.fidelity);
  return trace::fidelityOf(all);
}

const run::StepResult* stepOf(const run::RunResult& result, RequestId request) {
  const auto found = std::find_if(result.steps.begin(), result.steps.end(),
                                  [request](const run::StepResult& step) { return step.request == request; });
  return found == result.steps.end() ? nullptr : &*found;
}

std::string deviationText(const trace::FidelityFigures& figures) {
  const std::optional<double> mean = figures.meanAttentionDeviation();
  return mean ? fixed(*mean, kDeviationDigits) : "–";
}

std::string answerText(const trace::FidelityFigures& figures) {
  if (figures.steps == figures.sampledSteps) return "drawn at random";
  if (figures.sameAnswers == 1) return "the same";
  const std::string where = figures.agreedTokens == 0
                                ? "another from the first token on"
                                : "another after " + counted(figures.agreedTokens, "token");
  return where + (figures.sameTexts == 1 ? ", same text" : "");
}

nlohmann::ordered_json figuresJson(const trace::FidelityFigures& figures) {
  nlohmann::ordered_json json;
  json["tokens"] = figures.tokens;
  json["greedy_tokens_that_agree"] = figures.agreeing;
  json["divergence_mean_nats"] = figures.meanDivergence;
  json["divergence_median_nats"] = figures.medianDivergence;
  json["divergence_most_nats"] = figures.mostDivergence;
  json["steps_drawn_at_random"] = figures.sampledSteps;
  json["answers_compared"] = figures.steps - figures.sampledSteps;
  json["answers_with_same_tokens"] = figures.sameAnswers;
  json["answers_with_same_text"] = figures.sameTexts;
  json["answer_tokens"] = figures.answerTokens;
  json["answer_tokens_before_the_first_difference"] = figures.agreedTokens;
  json["attention_rows"] = figures.attentionRows;
  json["attention_deviation_by_layer"] = figures.attentionDeviation;
  return json;
}

}  // namespace

std::vector<MeasuredStep> measureReplies(CommandService& service, RunId run,
                                         experiment::FinishedReplies& gathered, const Context& context) {
  std::vector<MeasuredStep> measured;
  std::vector<run::FinishedReply> replies;
  try {
    replies = gathered.takeRun(run);
  } catch (const Failure& failure) {
    context.streams.err << failure.what() << '\n';
  }
  for (const run::FinishedReply& reply : replies) {
    showProgress(context, "measuring fidelity: " + std::to_string(measured.size() + 1) + " of " +
                              counted(replies.size(), "answer"));
    const auto work = std::make_shared<workbench::FidelityWork>(std::vector{reply});
    try {
      service.carryOut(work).rethrow();
    } catch (const Failure& failure) {
      showProgress(context, "");
      context.streams.err << reply.node << ": " << failure.what() << '\n';
    }
    if (context.stop.stop_requested() && work->found().empty()) break;
    for (const trace::FidelityMeasured& found : work->found())
      measured.push_back({.request = reply.request, .fidelity = found});
  }
  showProgress(context, "");
  return measured;
}

std::string fidelityReport(const plan::Plan& plan, const run::RunResult& result,
                           const std::vector<MeasuredStep>& measured) {
  if (measured.empty()) return "  fidelity: nothing was measured\n";
  TextTable table({{"step"},
                   {"node", TextTable::Align::Left},
                   {"KL mean"},
                   {"median"},
                   {"most"},
                   {"greedy tokens that agree"},
                   {"attention off by"},
                   {"full prefill answers", TextTable::Align::Left}});
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    if (step == nullptr) continue;
    const trace::FidelityFigures figures = figuresOf(one.fidelity);
    table.addRow({std::to_string(step->step), stepName(plan.steps[step->step]),
                  trace::divergenceText(figures.meanDivergence),
                  trace::divergenceText(figures.medianDivergence),
                  trace::divergenceText(figures.mostDivergence),
                  std::to_string(figures.agreeing) + " of " + std::to_string(figures.tokens),
                  deviationText(figures), answerText(figures)});
  }
  std::string text =
      "  fidelity against a full prefill of the same tokens; divergences in nats\n\n" + table.text();
  if (measured.size() > 1) text += "  full prefill ≈ " + trace::fidelityText(figuresOf(measured)) + '\n';
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    const trace::FidelityFigures figures = figuresOf(one.fidelity);
    if (step == nullptr || figures.sampledSteps > 0 || figures.sameAnswers == 1) continue;
    text += "  step " + std::to_string(step->step) + ", a full prefill: " + one.fidelity.fullText + '\n';
  }
  return text;
}

nlohmann::ordered_json fidelityJson(const plan::Plan& plan, const run::RunResult& result,
                                    const std::vector<MeasuredStep>& measured) {
  nlohmann::ordered_json json = figuresJson(figuresOf(measured));
  json["steps"] = nlohmann::ordered_json::array();
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    if (step == nullptr) continue;
    nlohmann::ordered_json row;
    row["step"] = step->step;
    row["node"] = plan.steps[step->step].node;
    row["copy"] = plan.steps[step->step].copy;
    row["prompt"] = one.fidelity.promptTokens;
    row["cached"] = one.fidelity.cachedTokens;
    row["recomputed"] = one.fidelity.recomputedTokens;
    row.update(figuresJson(figuresOf(one.fidelity)));
    row["full_answer"] = one.fidelity.fullText;
    row["full_tokens"] = one.fidelity.fullAnswer;
    row["by_token"] = nlohmann::ordered_json::array();
    for (const trace::FidelityToken& token : one.fidelity.tokens) {
      row["by_token"].push_back({{"token", token.token},
                                 {"divergence_nats", token.divergence},
                                 {"policy_best", token.policyBest},
                                 {"full_best", token.fullBest},
                                 {"policy_probability", token.policyProbability},
                                 {"full_probability", token.fullProbability}});
    }
    json["steps"].push_back(std::move(row));
  }
  return json;
}

}  // namespace spanscope::cli
