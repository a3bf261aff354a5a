// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/experiment_amount.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace spanscope::experiment {
namespace {

/// Repeats that are counted; further ones compute about as much.
constexpr std::int32_t kMostRepeats = 3;
/// By how much the texts of further repeats may be longer or shorter.
constexpr double kSlack = 0.1;

void scale(run::CountRange& range, double least, double most) {
  range.least = static_cast<std::int64_t>(std::floor(static_cast<double>(range.least) * least));
  if (range.bounded())
    range.most = static_cast<std::int64_t>(std::ceil(static_cast<double>(range.most) * most));
}

}  // namespace

ExperimentAmount countExperiment(ExperimentWish wish, ExperimentModel model, const std::stop_token& stop) {
  ExperimentTally tally;
  model.tally = &tally;
  model.seam = {};
  ExperimentResult result;
  result.wish = completed(std::move(wish));
  const std::int32_t wished = result.wish.repeats;
  result.wish.repeats = std::min(wished, kMostRepeats);
  const bool isOwn = result.wish.source == DocumentSource::Own;
  runExperiment(
      result, model, [](const ExperimentResult&) {}, stop);
  ExperimentAmount amount{.total = tally.total(), .steps = tally.steps()};
  if (wished > kMostRepeats) {
    const double more = static_cast<double>(wished) / kMostRepeats;
    // Of a person's documents there may be no further orders.
    const double least = isOwn ? 1 : more * (1 - kSlack);
    for (run::CountRange* range : {&amount.total.prompt, &amount.total.generated})
      scale(*range, least, more * (1 + kSlack));
  }
  return amount;
}

}  // namespace spanscope::experiment
