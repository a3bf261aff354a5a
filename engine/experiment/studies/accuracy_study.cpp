// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/sources.h"
#include "engine/experiment/studies/study.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments",
                                   "Documents of two sentences. Every second question needs two documents"),
                    "3,8,16,24", FieldKind::Numbers, kFewestSources, kMostSources},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "One line for each"), "", FieldKind::Policies}};
constexpr std::array kMeasures = {
    Measure{"right", forTranslation("Experiments", "right answers"), "%", 0, false, MetricKind::Share},
    Measure{"holds", forTranslation("Experiments", "answers that contain the right answer"), "%", 0, false,
            MetricKind::Share},
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 1, true}};

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

/// For a remark: the beginning of a long answer.
std::string shownAnswer(const std::string& answer) {
  constexpr std::size_t kMost = 240;  // bytes
  const std::string whole = trimmed(answer);
  if (whole.size() <= kMost) return "“" + whole + "”";
  std::size_t end = kMost;
  // The cut is between two characters.
  while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xC0U) == 0x80U) --end;
  return "“" + whole.substr(0, end) + "…”";
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::vector<std::int32_t> documents = numbersOf(result.request, "documents");
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  result.total = documents.size() * policies.size();
  Study study(result, model, report, stop);
  const ExperimentRequest& request = result.request;
  const std::string expected = trimmed(request.expected);
  if (!request.own)
    study.remark("Answers are compared word for word with the training answers of the bundled model.");
  else if (expected.empty())
    study.remark(
        /*id:no-expected-answer*/ "There is no expected answer, so no share of right answers is shown.");
  else
    study.remark(/*id:answers-compared-word*/ "Answers are compared word for word with the expected answer.");
  if (request.own) study.remark(kRepeatsAreOrders);
  for (const std::int32_t count : documents) {
    for (const std::string& policy : policies) {
      for (std::int32_t index = 0; index < repeatsOver(request, count); ++index) {
        study.begin(counted(count, "document") + ", policy " + policy + ", question " +
                    std::to_string(index + 1));
        const SourceQuestion question =
            request.own ? SourceQuestion()
                        : sourceQuestion({.documents = count, .rivals = 0, .seed = request.seed}, index);
        study.clearCache();
        const Study::Ran ran = study.run(
            request.own ? ownPlan(request, count, index) : studyPlan(sourceQuery(question)), policy);
        const std::string answer = request.own ? trimmed(ran.sample.answer) : ran.sample.answer;
        const std::string& right = request.own ? expected : question.answer;
        std::vector<double> isRight;
        std::vector<double> holds;
        if (!right.empty()) {
          isRight = {answer == right ? 100.0 : 0.0};
          holds = {answer.find(right) != std::string::npos ? 100.0 : 0.0};
        }
        study.addSamples(
            policy, count, 0,
            {isRight, holds, {ran.sample.measured.timeToFirstToken.value_or(0) * kMilliseconds}});
        if (request.own && index == 0)
          study.remark(policy + ", " + counted(count, "document") + ": " + shownAnswer(answer));
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
        "How many questions does each policy answer correctly as the number of documents grows? "
        "Each question needs one or two documents."),
    .xName = forTranslation("Experiments", "documents"),
    .isXLogarithmic = false,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 50,
    .own = {.count = "documents", .judges = true},
    .measure = measure};

}  // namespace spanscope::experiment
