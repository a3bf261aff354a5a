// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/measure_estimate.h"

#include "engine/experiment/experiment_amount.h"
#include "ui/session/document_predictor.h"
#include "ui/session/experiment_estimate.h"
#include "ui/session/policy_comparison.h"
#include "ui/words/tr.h"

namespace spanscope::ui {
namespace {

QString sentenceOf(const ViewInput& input, const experiment::TokenAmount& amount) {
  ExperimentEstimate estimate{.request = {}, .state = ExperimentEstimate::State::Counted};
  if (input.measuring.pace) estimate.seconds = experiment::secondsFor(amount, *input.measuring.pace);
  return estimateText(estimate);
}

/// What the document's query computes with an empty cache; nothing: it is not known before it runs.
std::optional<experiment::TokenAmount> coldAmountOf(const ViewInput& input) {
  if (!input.prediction.newest || !input.prediction.newest->isKnown() || !input.prediction.newest->plan)
    return std::nullopt;
  return experiment::coldAmount(input.prediction.newest->empty, *input.prediction.newest->plan);
}

QString unknownText(const ViewInput& input) {
  return input.measuring.context > 0
             ? QString()
             : estimateText({.request = {}, .state = ExperimentEstimate::State::NotLoaded});
}

}  // namespace

QString benchmarkEstimate(const ViewInput& input, const BenchmarkRequest& request) {
  if (request.kind == BenchmarkKind::Lengths) {
    if (input.measuring.context <= 0) return unknownText(input);
    const experiment::AbbaOptions options{
        .repeats = request.repeats, .seconds = 0, .coldRepeats = request.repeats};
    experiment::TokenAmount amount;
    for (const std::int32_t tokens : workbench::measurableLengths(input.measuring.context))
      amount += experiment::abbaAmount(options, tokens);
    return sentenceOf(input, amount);
  }
  const auto cold = coldAmountOf(input);
  if (!cold) return unknownText(input);
  return sentenceOf(input, experiment::repeatsAmount(*cold, request.repeats));
}

QString comparisonEstimate(const ViewInput& input) {
  const auto cold = coldAmountOf(input);
  if (!cold) return unknownText(input);
  const std::size_t policies = comparedPolicies(input.document->settings.policy, input.policiesWanted).size();
  return sentenceOf(input, experiment::comparisonAmount(*cold, policies));
}

QString withTimeLeft(const std::optional<double>& secondsLeft, const QString& doing) {
  return secondsLeft ? tr("%1 left: %2").arg(shownDuration({*secondsLeft, *secondsLeft}), doing) : doing;
}

}  // namespace spanscope::ui
