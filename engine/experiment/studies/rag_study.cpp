// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/repeat_run.h"
#include "engine/experiment/studies/study.h"

#include <array>

namespace spanscope::experiment {
namespace {

constexpr std::array kFields = {
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments", "Number of documents under the plus"), "1,2,4,8,16,32",
                    FieldKind::Numbers, 1, 256},
    ExperimentField{"words", forTranslation("Experiments", "Words per document"),
                    forTranslation("Experiments", "Approximate, in whole sentences"), "100",
                    FieldKind::Number, 2, 10'000},
    ExperimentField{
        "policies", forTranslation("Experiments", "Policies"),
        forTranslation("Experiments", "Two lines for each: with an empty cache, and with cached documents"),
        "", FieldKind::Policies}};
constexpr std::array kMeasures = {
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 2, true},
    Measure{"cached_share", forTranslation("Experiments", "prompt cache hits"), "%", 1}};

query::Node ragQuery(std::int32_t documents, std::int32_t words, std::uint64_t seed, std::uint64_t question) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (std::int32_t i = 0; i < documents; ++i)
    plus.children.push_back(
        studyMessage(query::Role::User, fillerText(words, seed * 100'003 + static_cast<std::uint64_t>(i))));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(studyMessage(query::Role::System, "Answer from the notes."));
  cross.children.push_back({std::move(plus)});
  cross.children.push_back(
      studyMessage(query::Role::User, "What was said of the river? (" + std::to_string(question) + ")"));
  return studyGenerate({std::move(cross)}, 1, 0);
}

/// `question`: 0 is the question of the user's query, if there is one.
plan::Plan ragPlan(const ExperimentRequest& request, std::int32_t documents, std::uint64_t question) {
  if (!request.own) return studyPlan(ragQuery(documents, numberOf(request, "words"), request.seed, question));
  const auto count = static_cast<std::size_t>(documents);
  return studyPlan(
      request.own->query({.documents = documentsInTurn(count, 0), .question = question, .maxTokens = 1}));
}

void measure(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
             const std::stop_token& stop) {
  const std::vector<std::int32_t> documents = numbersOf(result.request, "documents");
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  result.total = documents.size() * policies.size() * static_cast<std::size_t>(result.request.repeats);
  Study study(result, model, report, stop);
  study.begin("warming up");
  study.run(ragPlan(result.request, 1, 0), policies.front());
  if (result.request.own) study.remark(kOtherQuestion);
  for (const std::int32_t count : documents) {
    for (std::int32_t repeat = 0; repeat < result.request.repeats; ++repeat) {
      // Policies take turns, so a disturbance of the machine affects all of them.
      for (const std::string& policy : policies) {
        study.begin(counted(count, "document") + ", policy " + policy);
        const auto number = static_cast<std::uint64_t>(repeat) * 2;
        const auto add = [&](const char* state, const Study::Ran& ran) {
          const metrics::RunValues& measured = ran.sample.measured;
          study.add(policy + state, count,
                    {measured.timeToFirstToken.value_or(0) * kMilliseconds,
                     100.0 * static_cast<double>(measured.cachedTokens) /
                         static_cast<double>(measured.promptTokens)});
        };
        study.clearCache();
        add(", empty cache", study.run(ragPlan(result.request, count, number), policy));
        // Another question over the same documents in another order.
        const plan::Plan next = ragPlan(result.request, count, number + 1);
        add(", documents seen", study.run(withReversedPluses(next), policy));
        study.step();
      }
    }
  }
}

}  // namespace

const Experiment kRagStudy{
    .name = "rag",
    .title = forTranslation("Experiments", /*id:time-first-token*/ "Time to first token of RAG"),
    .brief =
        forTranslation("Experiments",
                       "How long does the first token take as the number of documents grows? Compares an "
                       "empty cache with cached documents of an earlier question, in reversed order."),
    .xName = forTranslation("Experiments", "documents"),
    .isXLogarithmic = true,
    .fields = kFields,
    .measures = kMeasures,
    .repeats = 5,
    .own = {.count = "documents", .made = "words"},
    .measure = measure};

}  // namespace spanscope::experiment
