// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments about the answers of policies: their distance from a full prefill, and right answers.
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/base/utf8.h"
#include "engine/experiment/sources.h"
#include "engine/experiment/studies/study.h"
#include "engine/run/run_result.h"
#include "engine/trace/fidelity_metrics.h"

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

namespace {

/// Returns the plan of a question over this number of documents: the user's, or generated ones.
plan::Plan questionPlan(const ExperimentRequest& request, std::int32_t documents, std::int32_t repeat) {
  if (request.own) return ownPlan(request, documents, repeat);
  const SourceWorld world{.documents = documents, .rivals = 0, .seed = request.seed};
  return studyPlan(sourceQuery(sourceQuestion(world, repeat)));
}

}  // namespace

namespace {

constexpr std::array kFidelityFields = {
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments",
                                   "Documents of two sentences. Every second question needs two documents"),
                    "3,5,8,12,16,20", FieldKind::Numbers, kFewestSources, kMostSources},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "One line for each"), "", FieldKind::Policies}};
constexpr std::array kFidelityMeasures = {
    Measure{"divergence_nats", forTranslation("Experiments", "KL per token"), "nats", 4},
    Measure{"agreement", forTranslation("Experiments", "greedy tokens that agree"), "%", 1},
    Measure{"same_answers", forTranslation("Experiments", "same answers"), "%", 0, false, MetricKind::Share},
    Measure{"attention_deviation", forTranslation("Experiments", "attention deviation"), "", 3},
    Measure{"token_divergence_nats", forTranslation("Experiments", "KL divergence of each token"), "nats",
            4}};

void measureFidelity(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
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
        study.clearCache();
        const Study::Ran ran = study.run(questionPlan(request, count, repeat), policy);
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
    .fields = kFidelityFields,
    .measures = kFidelityMeasures,
    .repeats = 10,
    .own = {.count = "documents"},
    .measure = measureFidelity};

namespace {

constexpr std::array kRepairFields = {
    ExperimentField{"shares", forTranslation("Experiments", "Shares"),
                    forTranslation("Experiments",
                                   "Percent of the documents' tokens that are recomputed. Recomputed tokens "
                                   "attend to all earlier tokens"),
                    "0,5,10,15,25,50,75,100", FieldKind::Numbers, 0, 100},
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments",
                                   "Documents of two sentences. Every second question needs two documents"),
                    "12", FieldKind::Number, kFewestSources, kMostSources}};
constexpr std::array kRepairMeasures = {
    Measure{"divergence_nats", forTranslation("Experiments", "KL per token"), "nats", 4},
    Measure{"agreement", forTranslation("Experiments", "greedy tokens that agree"), "%", 1},
    Measure{"attention_deviation", forTranslation("Experiments", "attention deviation"), "", 3},
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 1, true}};

/// Returns the mean number of tokens of a document. Documents are the visible segments under a plus.
double meanDocument(const std::vector<trace::SegmentInfo>& segments) {
  double tokens = 0;
  double count = 0;
  for (const trace::SegmentInfo& segment : segments) {
    if (segment.hidden || segment.depth == 0) continue;
    tokens += static_cast<double>(segment.tokens.size());
    ++count;
  }
  return count == 0 ? 0 : tokens / count;
}

std::string linkOf(std::int32_t share, double documentTokens) {
  if (share == 100) return "link(all)";
  return "link(" + std::to_string(std::lround(share * documentTokens / 100)) + ")";
}

std::string blendOf(std::int32_t share) {
  const std::string hundredths = std::to_string(share % 100);
  return "blend(" + (share == 100 ? "1" : "0." + std::string(2 - hundredths.size(), '0') + hundredths);
}

void measureRepair(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                   const std::stop_token& stop) {
  const std::vector<std::int32_t> shares = numbersOf(result.request, "shares");
  const std::int32_t documents = numberOf(result.request, "documents");
  const ExperimentRequest& request = result.request;
  Study study(result, model, report, stop);
  const std::int32_t repeats = repeatsOver(request, documents);
  if (request.own) study.remark(kRepeatsAreOrders);
  result.total = shares.size() * static_cast<std::size_t>(repeats);
  for (std::int32_t repeat = 0; repeat < repeats; ++repeat) {
    const plan::Plan plan = questionPlan(request, documents, repeat);
    for (const std::int32_t share : shares) {
      study.begin(std::to_string(share) + " %, question " + std::to_string(repeat + 1));
      // The documents are cached before, so the measured time contains only the work of the policy.
      study.clearCache();
      const Study::Ran seen = study.run(plan, "spans");
      const double tokens = seen.answers.empty() ? 0 : meanDocument(seen.answers.front().segments);
      const std::array<std::pair<const char*, std::string>, 3> lines = {
          {{"link", linkOf(share, tokens)},
           {"blend, by keys", blendOf(share) + ")"},
           {"blend, by values", blendOf(share) + ",by=values)"}}};
      for (const auto& [line, policy] : lines) {
        const Study::Ran ran = study.run(plan, policy);
        for (const run::FinishedAnswer& answer : ran.answers) {
          const trace::FidelityMeasured found = study.fidelityOf(answer);
          const trace::FidelityMeasured* one = &found;
          const trace::FidelityMetrics fidelity = trace::fidelityOf(std::span(&one, 1));
          study.add(line, share,
                    {fidelity.meanDivergence, 100 * fidelity.agreement(),
                     fidelity.meanAttentionDeviation().value_or(0),
                     ran.sample.measured.timeToFirstToken.value_or(0) * kMilliseconds});
        }
      }
      study.step();
    }
  }
}

}  // namespace

const Experiment kRepairStudy{
    .name = "repair",
    .title = forTranslation("Experiments", "Effect of recomputed tokens"),
    .brief =
        forTranslation("Experiments",
                       "Link and blend recompute a share of the documents' tokens. How much closer to a full "
                       "prefill is the answer if this share grows? How much longer does the answer take?"),
    .xName = forTranslation("Experiments", "recomputed tokens, %"),
    .fields = kRepairFields,
    .measures = kRepairMeasures,
    .repeats = 10,
    .own = {.count = "documents"},
    .measure = measureRepair};

namespace {

constexpr std::array kAccuracyFields = {
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments",
                                   "Documents of two sentences. Every second question needs two documents"),
                    "3,8,16,24", FieldKind::Numbers, kFewestSources, kMostSources},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "One line for each"), "", FieldKind::Policies}};
constexpr std::array kAccuracyMeasures = {
    Measure{"right", forTranslation("Experiments", "right answers"), "%", 0, false, MetricKind::Share},
    Measure{"holds", forTranslation("Experiments", "answers that contain the right answer"), "%", 0, false,
            MetricKind::Share},
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 1, true}};

/// For a remark: the beginning of a long answer.
std::string shownAnswer(const std::string& answer) {
  constexpr std::size_t kMost = 240;  // bytes
  const std::string whole = std::string(trimmed(answer));
  return "“" + std::string(beginningOf(whole, kMost)) + (whole.size() > kMost ? "…”" : "”");
}

void measureAccuracy(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                     const std::stop_token& stop) {
  const std::vector<std::int32_t> documents = numbersOf(result.request, "documents");
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  result.total = documents.size() * policies.size();
  Study study(result, model, report, stop);
  const ExperimentRequest& request = result.request;
  const std::string expected = std::string(trimmed(request.expected));
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
        const std::string answer = request.own ? std::string(trimmed(ran.sample.answer)) : ran.sample.answer;
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
    .fields = kAccuracyFields,
    .measures = kAccuracyMeasures,
    .repeats = 50,
    .own = {.count = "documents", .judges = true},
    .measure = measureAccuracy};

}  // namespace spanscope::experiment
