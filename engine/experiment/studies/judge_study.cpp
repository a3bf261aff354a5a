// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/studies/study.h"

#include <array>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"generates", forTranslation("Experiments", "Candidates"),
                    forTranslation("Experiments", "Number of candidates that the judge reads"),
                    "1,2,4,8,16,24,32", FieldKind::Numbers, 1, 128},
    ExperimentField{"words", forTranslation("Experiments", "Words per prompt"),
                    forTranslation("Experiments", "Approximate number of words of each candidate's prompt"),
                    "40", FieldKind::Number, 2, 10'000},
    ExperimentField{"tokens", forTranslation("Experiments", "Tokens per candidate"),
                    forTranslation("Experiments", "Max tokens of each candidate"), "32", FieldKind::Number, 1,
                    1024},
    ExperimentField{"temperature", forTranslation("Experiments", "Temperature, hundredths"),
                    forTranslation("Experiments", "Temperature of the candidates. At 0, sampling is greedy"),
                    "80", FieldKind::Number, 0, 200},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "One line for each"), "", FieldKind::Policies}};
constexpr std::array kMeasures = {
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 2, true},
    Measure{"cached_share", forTranslation("Experiments", "cache hits of the judge's prompt"), "%", 1}};

query::Node judgeQuery(std::int32_t generates, const ExperimentRequest& request, std::uint64_t number) {
  const std::int32_t words = numberOf(request, "words");
  const float temperature = static_cast<float>(numberOf(request, "temperature")) / 100;
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (std::int32_t i = 0; i < generates; ++i) {
    const std::uint64_t text = (request.seed * 1009 + number) * 1009 + static_cast<std::uint64_t>(i);
    plus.children.push_back(
        studyGenerate(studyMessage(query::Role::User, fillerText(words, text) + " Write one sentence more."),
                      numberOf(request, "tokens"), temperature));
  }
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(studyMessage(query::Role::System, "You judge sentences."));
  cross.children.push_back({std::move(plus)});
  cross.children.push_back(studyMessage(query::Role::User, "Which is the best sentence?"));
  return studyGenerate({std::move(cross)}, 1, 0);
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::vector<std::int32_t> generates = numbersOf(result.request, "generates");
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  result.total = generates.size() * policies.size() * static_cast<std::size_t>(result.request.repeats);
  Study study(result, model, report, stop);
  study.begin("warming up");
  study.run(studyPlan(judgeQuery(1, result.request, 0)), policies.front());
  for (const std::int32_t count : generates) {
    for (std::int32_t repeat = 0; repeat < result.request.repeats; ++repeat) {
      // Policies take turns, so a disturbance of the machine affects all of them.
      for (const std::string& policy : policies) {
        study.begin(counted(count, "candidate") + ", policy " + policy);
        study.clearCache();
        const plan::Plan plan =
            studyPlan(judgeQuery(count, result.request, static_cast<std::uint64_t>(repeat)));
        const Study::Ran ran =
            study.run(plan, policy, result.request.seed + static_cast<std::uint64_t>(repeat));
        const trace::StepMetrics& judge = ran.result.steps.back().metrics;
        study.add(policy, count,
                  {judge.timeToFirstToken * kMilliseconds, 100.0 * static_cast<double>(judge.cachedTokens) /
                                                               static_cast<double>(judge.promptTokens)});
        study.step();
      }
    }
  }
}

}  // namespace

const Experiment kJudgeStudy{
    .name = "judge",
    .title = forTranslation("Experiments", "Time to first token of a judge"),
    .brief = forTranslation(
        "Experiments",
        "Candidates are generated and then judged together. How long does the judge's first token take as "
        "the number of candidates grows? The time counts from the end of the last candidate."),
    .xName = forTranslation("Experiments", "candidates"),
    .isXLogarithmic = true,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 5,
    .measure = measure};

}  // namespace spanscope::experiment
