// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/sources.h"
#include "engine/experiment/studies/study.h"
#include "engine/run/run_result.h"
#include "engine/trace/fidelity_metrics.h"

#include <array>
#include <span>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments",
                                   "Documents of two sentences. Every second question needs two documents"),
                    "3,5,8,12,16,20", FieldKind::Numbers, kFewestSources, kMostSources},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "One line for each"), "", FieldKind::Policies}};
constexpr std::array kMeasures = {
    Measure{"divergence_nats", forTranslation("Experiments", "KL per token"), "nats", 4},
    Measure{"agreement", forTranslation("Experiments", "greedy tokens that agree"), "%", 1},
    Measure{"same_answers", forTranslation("Experiments", "same answers"), "%", 0, false, MetricKind::Share},
    Measure{"attention_deviation", forTranslation("Experiments", "attention deviation"), "", 3},
    Measure{"token_divergence_nats", forTranslation("Experiments", "KL of each token"), "nats", 4}};

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::vector<std::int32_t> documents = numbersOf(result.request, "documents");
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  Study study(result, model, report, stop);
  const ExperimentRequest& request = result.request;
  if (request.own) study.remark(kRepeatsAreOrders);
  for (const std::int32_t count : documents)
    result.total += policies.size() * static_cast<std::size_t>(repeatsOver(request, count));
  for (const std::int32_t count : documents) {
    for (const std::string& policy : policies) {
      study.begin(counted(count, "document") + ", policy " + policy);
      for (std::int32_t repeat = 0; repeat < repeatsOver(request, count); ++repeat) {
        const SourceWorld world{.documents = count, .rivals = 0, .seed = request.seed};
        study.clearCache();
        const Study::Ran ran = study.run(request.own ? ownPlan(request, count, repeat)
                                                     : studyPlan(sourceQuery(sourceQuestion(world, repeat))),
                                         policy);
        for (const run::FinishedAnswer& answer : ran.answers) {
          const trace::FidelityMeasured found = study.fidelityOf(answer);
          const trace::FidelityMeasured* one = &found;
          const trace::FidelityMetrics fidelity = trace::fidelityOf(std::span(&one, 1));
          std::vector<double> tokens;
          for (const trace::FidelityToken& token : found.tokens) tokens.push_back(token.divergence);
          study.addSamples(policy, count, 0,
                           {{fidelity.meanDivergence},
                            {100 * fidelity.agreement()},
                            {fidelity.sameAnswers > 0 ? 100.0 : 0.0},
                            {fidelity.meanAttentionDeviation().value_or(0)},
                            tokens});
        }
        study.step();
      }
    }
  }
}

}  // namespace

const Experiment kFidelityStudy{
    .name = "fidelity",
    .title = forTranslation("Experiments", "Fidelity by policy"),
    .brief = forTranslation("Experiments",
                            "How close are answers under each policy to a full prefill of the same tokens? "
                            "The number of documents grows."),
    .xName = forTranslation("Experiments", "documents"),
    .isXLogarithmic = false,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 10,
    .own = {.count = "documents"},
    .measure = measure};

}  // namespace spanscope::experiment
