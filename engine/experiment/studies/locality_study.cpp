// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/needle.h"
#include "engine/experiment/studies/study.h"

#include <array>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"hay", forTranslation("Experiments", "Words of filler text"),
                    forTranslation("Experiments", "In each document, rounded to whole sentences"),
                    "0,20,40,60,80,120", FieldKind::Numbers, 0, 100'000},
    ExperimentField{"portions", forTranslation("Experiments", "Documents read together"),
                    forTranslation("Experiments",
                                   "One line for each: k of attention locality; 0: all documents together"),
                    "0,2,4", FieldKind::Numbers, 0, kMostNeedles},
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments", "Each with one name"), "8", FieldKind::Number, 2,
                    kMostNeedles}};
constexpr std::array kMeasures = {
    Measure{"good", forTranslation("Experiments", "good runs"), "%", 0, false, MetricKind::Share},
    Measure{"found", forTranslation("Experiments", "names found"), "%", 0, false, MetricKind::Share},
    Measure{"run_ms", forTranslation("Experiments", "whole run"), "ms", 1, true}};

std::vector<double> shareSamples(std::int64_t yes, std::int64_t all) {
  std::vector<double> samples(static_cast<std::size_t>(all), 0.0);
  for (std::int64_t i = 0; i < yes; ++i) samples[static_cast<std::size_t>(i)] = 100;
  return samples;
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  NeedleOptions options{.documents = numberOf(result.request, "documents"),
                        .hayWords = numbersOf(result.request, "hay"),
                        .portions = numbersOf(result.request, "portions"),
                        .trials = result.request.repeats,
                        .seed = result.request.seed,
                        .seam = model.seam};
  result.total = options.hayWords.size() * options.portions.size();
  Study study(result, model, report, stop);
  for (const std::int32_t words : options.hayWords) {
    for (const std::int32_t portion : options.portions) {
      const std::string line = portion == 0 ? "all at once" : "k = " + std::to_string(portion);
      study.begin(counted(words, "word") + " of filler text, " + line);
      const NeedleRow row = study.needle(options, words, portion);
      if (row.firstFailure) study.remark(*row.firstFailure);
      result.points.push_back(
          {.series = line,
           .x = static_cast<double>(words),
           .samples = {shareSamples(row.good, row.trials),
                       shareSamples(row.found, std::int64_t{row.trials} * options.documents),
                       {}}});
      for (const double seconds : row.seconds.samples)
        result.points.back().samples[2].push_back(1000 * seconds);
      study.step();
      report(result);
    }
  }
}

}  // namespace

const Experiment kLocalityStudy{
    .name = "locality",
    .title = forTranslation("Experiments", "Needles with attention locality"),
    .brief = forTranslation(
        "Experiments",
        "Names are hidden among more and more words. Does the model find more names in groups "
        "of k documents than in all documents together? The lists of the groups are combined."),
    .xName = forTranslation("Experiments", "words of filler text per document"),
    .isXLogarithmic = false,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 20,
    .measure = measure};

}  // namespace spanscope::experiment
