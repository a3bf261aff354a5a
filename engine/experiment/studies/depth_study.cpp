// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/needle.h"
#include "engine/experiment/studies/study.h"
#include "engine/run/run_options.h"

#include <array>
#include <cmath>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"hay", forTranslation("Experiments", "Words of filler text"),
                    forTranslation("Experiments", "In each document, rounded to whole sentences"),
                    "10,20,40,60,80,120", FieldKind::Numbers, 0, 100'000},
    ExperimentField{
        "portions", forTranslation("Experiments", "Documents read together"),
        forTranslation("Experiments", "One map for each: k of attention locality; 0: all documents together"),
        "0,2,4", FieldKind::Numbers, 0, kMostNeedles},
    ExperimentField{
        "depths", forTranslation("Experiments", "Depths"),
        forTranslation(
            "Experiments",
            "In percent: 0 means the first document, 100 the last. Other values mean the nearest document"),
        "0,25,50,75,100", FieldKind::Numbers, 0, 100},
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments", "Each with one name"), "8", FieldKind::Number, 2,
                    kMostNeedles},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "Maps for each"), "spans", FieldKind::Policies}};
constexpr std::array kMeasures = {
    Measure{"found", forTranslation("Experiments", "names found"), "%", 0, false, MetricKind::Share}};

std::string lineOf(const std::vector<std::string>& policies, const std::string& policy,
                   std::int32_t portion) {
  const std::string line = portion == 0 ? "all at once" : "k = " + std::to_string(portion);
  return policies.size() == 1 ? line : policy + ", " + line;
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  constexpr double kWhole = 100;
  NeedleOptions options{.documents = numberOf(result.request, "documents"),
                        .hayWords = numbersOf(result.request, "hay"),
                        .portions = numbersOf(result.request, "portions"),
                        .trials = result.request.repeats,
                        .seed = result.request.seed,
                        .seam = model.seam};
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  const std::vector<std::int32_t> depths = numbersOf(result.request, "depths");
  result.total = options.hayWords.size() * options.portions.size() * policies.size();
  Study study(result, model, report, stop);
  for (const std::int32_t words : options.hayWords) {
    for (const std::string& policy : policies) {
      run::RunOptions chosen;
      usePolicy(chosen, policy);
      options.policy = chosen.policy;
      for (const std::int32_t portion : options.portions) {
        const std::string line = lineOf(policies, policy, portion);
        study.begin(counted(words, "word") + " of filler text, " + line);
        const NeedleRow row = study.needle(options, words, portion);
        if (row.firstFailure) study.remark(*row.firstFailure);
        for (const std::int32_t depth : depths) {
          const auto document =
              static_cast<std::size_t>(std::lround(depth * (options.documents - 1) / kWhole));
          std::vector<double> samples(static_cast<std::size_t>(row.trials), 0.0);
          for (std::int32_t i = 0; i < row.foundAt[document]; ++i)
            samples[static_cast<std::size_t>(i)] = kWhole;
          study.addSamples(line, words, depth, {samples});
        }
        study.step();
      }
    }
  }
}

}  // namespace

const Experiment kDepthStudy{
    .name = "depth",
    .title = forTranslation("Experiments", "Needle by depth and length"),
    .brief = forTranslation(
        "Experiments",
        "Where in a long prompt is a name still found? Each document contains one name. "
        "The model reads all documents together, or groups of k whose lists are then combined. "
        "The map shows the length of the filler text and the depth of the name."),
    .xName = forTranslation("Experiments", /*id:words-of-hay*/ "words of filler text per document"),
    .isXLogarithmic = false,
    .yName = forTranslation("Experiments", "depth, %"),
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 20,
    .measure = measure};

}  // namespace spanscope::experiment
