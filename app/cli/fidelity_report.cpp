// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/fidelity_report.h"

#include "app/cli/bench_report.h"
#include "app/cli/run_printer.h"
#include "app/cli/text_table.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/run/run_result.h"
#include "engine/trace/event.h"
#include "engine/trace/fidelity_metrics.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <utility>

namespace spanscope::cli {
namespace {

constexpr int kDeviationDigits = 3;

trace::FidelityMetrics metricsOf(const MeasuredStep& measured) {
  const trace::FidelityMeasured* one = &measured.reply.fidelity;
  return trace::fidelityOf(std::span(&one, 1));
}

/// Of the arithmetic, over the steps of which it was measured; nothing where there is none.
std::optional<trace::DivergenceMetrics> arithmeticOf(std::span<const MeasuredStep> measured) {
  std::vector<const trace::ArithmeticMeasured*> all;
  for (const MeasuredStep& step : measured) {
    if (step.reply.arithmetic) all.push_back(&*step.reply.arithmetic);
  }
  if (all.empty()) return std::nullopt;
  return trace::arithmeticOf(all);
}

trace::FidelityMetrics metricsOf(const std::vector<MeasuredStep>& measured) {
  std::vector<const trace::FidelityMeasured*> all;
  for (const MeasuredStep& step : measured) all.push_back(&step.reply.fidelity);
  return trace::fidelityOf(all);
}

const run::StepResult* stepOf(const run::RunResult& result, RequestId request) {
  const auto found = std::find_if(result.steps.begin(), result.steps.end(),
                                  [request](const run::StepResult& step) { return step.request == request; });
  return found == result.steps.end() ? nullptr : &*found;
}

std::string deviationText(const trace::FidelityMetrics& fidelity) {
  const std::optional<double> mean = fidelity.meanAttentionDeviation();
  return mean ? fixed(*mean, kDeviationDigits) : "–";
}

std::string answerText(const trace::FidelityMetrics& fidelity) {
  if (fidelity.steps == fidelity.sampledSteps) return "drawn at random";
  if (fidelity.sameAnswers == 1) return "the same";
  const std::string where = fidelity.agreedTokens == 0
                                ? "different from the first token on"
                                : "another after " + counted(fidelity.agreedTokens, "token");
  return where + (fidelity.sameTexts == 1 ? ", same text" : "");
}

nlohmann::ordered_json divergenceJson(const trace::DivergenceMetrics& divergence) {
  nlohmann::ordered_json json;
  json["tokens"] = divergence.tokens;
  json["greedy_tokens_that_agree"] = divergence.agreeing;
  json["divergence_mean_nats"] = divergence.meanDivergence;
  json["divergence_median_nats"] = divergence.medianDivergence;
  json["divergence_most_nats"] = divergence.mostDivergence;
  return json;
}

nlohmann::ordered_json metricsJson(const trace::FidelityMetrics& fidelity) {
  nlohmann::ordered_json json = divergenceJson(fidelity);
  json["steps_drawn_at_random"] = fidelity.sampledSteps;
  json["answers_compared"] = fidelity.steps - fidelity.sampledSteps;
  json["answers_with_same_tokens"] = fidelity.sameAnswers;
  json["answers_with_same_text"] = fidelity.sameTexts;
  json["answer_tokens"] = fidelity.answerTokens;
  json["answer_tokens_before_the_first_difference"] = fidelity.agreedTokens;
  json["attention_rows"] = fidelity.attentionRows;
  json["attention_deviation_by_layer"] = fidelity.attentionDeviation;
  return json;
}

}  // namespace

std::vector<MeasuredStep> measureReplies(CommandService& service, RunId run,
                                         experiment::FinishedReplies& gathered, const Context& context) {
  std::vector<run::FinishedReply> replies;
  try {
    replies = gathered.takeRun(run);
  } catch (const Failure& failure) {
    context.streams.err << failure.what() << '\n';
  }
  if (replies.empty()) return {};
  const auto work = std::make_shared<jobs::FidelityJob>(std::move(replies));
  const workbench::WorkHandle handle = service.carryOut(work, [&] {
    showProgress(context,
                 "measuring fidelity: " + std::to_string(std::min(work->measured() + 1, work->replies())) +
                     " of " + counted(work->replies(), "answer"));
  });
  showProgress(context, "");
  for (const jobs::FidelityJob::Problem& problem : work->problems())
    context.streams.err << (problem.request == 0 ? "f32, to compare with" : problem.node) << ": "
                        << Failure(problem.error).what() << '\n';
  if (work->problems().empty()) handle.rethrow();
  return work->found();
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
    const trace::FidelityMetrics fidelity = metricsOf(one);
    table.addRow({std::to_string(step->step), stepName(plan, step->step),
                  trace::divergenceText(fidelity.meanDivergence),
                  trace::divergenceText(fidelity.medianDivergence),
                  trace::divergenceText(fidelity.mostDivergence),
                  std::to_string(fidelity.agreeing) + " of " + std::to_string(fidelity.tokens),
                  deviationText(fidelity), answerText(fidelity)});
  }
  std::string text =
      "  fidelity against a full prefill of the same tokens; divergences in nats\n\n" + table.text();
  if (measured.size() > 1) text += "  full prefill ≈ " + trace::fidelityText(metricsOf(measured)) + '\n';
  if (const auto arithmetic = arithmeticOf(measured))
    text += "  full prefill under " + measured.front().reply.arithmetic->arithmetic +
            " ≈ in f32: " + trace::divergenceText(*arithmetic) + '\n';
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    const trace::FidelityMetrics fidelity = metricsOf(one);
    if (step == nullptr || fidelity.sampledSteps > 0 || fidelity.sameAnswers == 1) continue;
    text +=
        "  step " + std::to_string(step->step) + ", a full prefill: " + one.reply.fidelity.fullText + '\n';
  }
  return text;
}

nlohmann::ordered_json fidelityJson(const plan::Plan& plan, const run::RunResult& result,
                                    const std::vector<MeasuredStep>& measured) {
  nlohmann::ordered_json json = metricsJson(metricsOf(measured));
  const auto setArithmetic = [](nlohmann::ordered_json& object, std::span<const MeasuredStep> steps) {
    if (const auto fidelity = arithmeticOf(steps)) {
      object["arithmetic_against_f32"] = divergenceJson(*fidelity);
      object["arithmetic_against_f32"]["arithmetic"] = steps.front().reply.arithmetic->arithmetic;
    }
  };
  setArithmetic(json, measured);
  json["steps"] = nlohmann::ordered_json::array();
  for (const MeasuredStep& one : measured) {
    const run::StepResult* step = stepOf(result, one.request);
    if (step == nullptr) continue;
    nlohmann::ordered_json row;
    row["step"] = step->step;
    row["node"] = plan.steps[step->step].node;
    row["copy"] = plan.steps[step->step].copy + 1;
    row["prompt"] = one.reply.fidelity.promptTokens;
    row["cached"] = one.reply.fidelity.cachedTokens;
    row["recomputed"] = one.reply.fidelity.recomputedTokens;
    row.update(metricsJson(metricsOf(one)));
    setArithmetic(row, std::span(&one, 1));
    row["full_answer"] = one.reply.fidelity.fullText;
    row["full_tokens"] = one.reply.fidelity.fullAnswer;
    row["by_token"] = nlohmann::ordered_json::array();
    for (const trace::FidelityToken& token : one.reply.fidelity.tokens) {
      row["by_token"].push_back({{"token", token.token},
                                 {"divergence_nats", token.divergence},
                                 {"policy_best", token.policyBest},
                                 {"full_best", token.fullBest},
                                 {"policy_probability", token.policyProbability},
                                 {"full_probability", token.fullProbability}});
    }
    if (one.reply.arithmetic) {
      row["arithmetic_by_token"] = nlohmann::ordered_json::array();
      for (const trace::ArithmeticToken& token : one.reply.arithmetic->tokens) {
        row["arithmetic_by_token"].push_back({{"token", token.token},
                                              {"divergence_nats", token.divergence},
                                              {"best", token.best},
                                              {"exact_best", token.exactBest},
                                              {"probability", token.probability},
                                              {"exact_probability", token.exactProbability}});
      }
    }
    json["steps"].push_back(std::move(row));
  }
  return json;
}

}  // namespace spanscope::cli
