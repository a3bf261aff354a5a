// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_amount.h"

#include "engine/experiment/repeat_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::experiment {

namespace {

/// Max number of repeats that are counted. Each further repeat computes about the same amount.
constexpr std::int32_t kMostRepeats = 3;
/// Share by which the texts of further repeats may be longer or shorter.
constexpr double kSlack = 0.1;

void scale(run::CountRange& range, double least, double most) {
  range.least = static_cast<std::int64_t>(std::floor(static_cast<double>(range.least) * least));
  if (range.bounded())
    range.most = static_cast<std::int64_t>(std::ceil(static_cast<double>(range.most) * most));
}

}  // namespace

ExperimentAmount countExperiment(ExperimentRequest request, ExperimentModel model,
                                 const std::stop_token& stop) {
  ExperimentTally tally;
  model.tally = &tally;
  model.seam = {};
  ExperimentResult result;
  result.request = completed(std::move(request));
  const std::int32_t asked = result.request.repeats;
  result.request.repeats = std::min(asked, kMostRepeats);
  const bool isOwn = result.request.source == DocumentSource::Own;
  runExperiment(
      result, model, [](const ExperimentResult&) {}, stop);
  ExperimentAmount amount{.total = tally.total(), .steps = tally.steps()};
  if (asked > kMostRepeats) {
    const double more = static_cast<double>(asked) / kMostRepeats;
    // The user's documents may have no further orders.
    const double least = isOwn ? 1 : more * (1 - kSlack);
    for (run::CountRange* range : {&amount.total.prompt, &amount.total.generated})
      scale(*range, least, more * (1 + kSlack));
  }
  return amount;
}

namespace {

/// Multiplies the min of a range by `least` and its max by `most`.
run::CountRange times(const run::CountRange& range, std::int64_t least, std::int64_t most) {
  return {.least = range.least * least,
          .most = range.bounded() ? range.most * most : run::CountRange::kUnbounded};
}

}  // namespace

TokenAmount coldAmount(const run::Prediction& empty, const plan::Plan& plan) {
  constexpr std::int64_t kUsual = 256;  // the default of RunOptions::maxTokens
  TokenAmount amount;
  for (const run::StepPrediction& step : empty.steps) {
    const auto limit = plan.steps[step.step].maxTokens.value_or(0);
    amount += {.prompt = step.computed, .generated = {0, (limit > 0 ? limit : kUsual) - 1}};
  }
  return amount;
}

TokenAmount repeatsAmount(const TokenAmount& cold, std::int32_t repeats) {
  const std::int64_t turns = std::int64_t{repeats} + 1;
  const auto cases = static_cast<std::int64_t>(kRunCases.size());
  return {.prompt = times(cold.prompt, turns, turns * cases),
          .generated = times(cold.generated, turns, turns * cases)};
}

TokenAmount comparisonAmount(const TokenAmount& cold, std::size_t policies) {
  const auto count = static_cast<std::int64_t>(policies);
  TokenAmount amount{.prompt = times(cold.prompt, 2 * count, 5 * count),
                     .generated = times(cold.generated, 2 * count, 2 * count)};
  // The model computes each answer twice more, as rows of a prompt.
  amount.prompt += times(cold.generated, 0, 2 * count);
  return amount;
}

}  // namespace spanscope::experiment
