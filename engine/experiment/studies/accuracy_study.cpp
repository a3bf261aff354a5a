// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/source_questions.h"
#include "engine/experiment/studies/studies.h"
#include "engine/experiment/studies/study.h"

#include <array>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{
        "documents", forTranslation("Experiments", "Documents"),
        forTranslation("Experiments", "Of two sentences each; every second question needs two of them"),
        "3,8,16,24", FieldKind::Numbers, kFewestSources, kMostSources},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "A line each"), "", FieldKind::Policies}};
constexpr std::array kMeasures = {
    Measure{"right", forTranslation("Experiments", "answered right"), "%", 0, false, FigureKind::Share},
    Measure{"holds", forTranslation("Experiments", "answers that hold the right one"), "%", 0, false,
            FigureKind::Share}};

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentTell& tell,
             const std::stop_token& stop) {
  const std::vector<std::int32_t> documents = numbersOf(result.wish, "documents");
  const std::vector<std::string> policies = policiesOf(result.wish, "policies");
  result.total = documents.size() * policies.size();
  Study study(result, model, tell, stop);
  study.remark("Answers are compared word for word with what the bundled model was trained to say.");
  for (const std::int32_t count : documents) {
    for (const std::string& policy : policies) {
      for (std::int32_t index = 0; index < result.wish.repeats; ++index) {
        study.begin(counted(count, "document") + ", policy " + policy + ", question " +
                    std::to_string(index + 1));
        const SourceQuestion question =
            sourceQuestion({.documents = count, .rivals = 0, .seed = result.wish.seed}, index);
        study.session().clearCache();
        const std::string answer = study.run(studyPlan(sourceQuery(question)), policy).sample.answer;
        const bool isRight = answer == question.answer;
        const bool holds = answer.find(question.answer) != std::string::npos;
        study.add(policy, count, {isRight ? 100.0 : 0.0, holds ? 100.0 : 0.0});
      }
      study.step();
    }
  }
}

}  // namespace

const Experiment kAccuracyStudy{
    .name = "accuracy",
    .title = forTranslation("Experiments", "Accuracy by policy"),
    .brief = forTranslation(
        "Experiments",
        "How many questions are answered right under each policy, over more and more documents of which "
        "one or two are needed?"),
    .xName = forTranslation("Experiments", "documents"),
    .isXLogarithmic = false,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 50,
    .measure = measure};

}  // namespace spanscope::experiment
