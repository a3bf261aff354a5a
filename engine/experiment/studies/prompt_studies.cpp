// SPDX-License-Identifier: GPL-3.0-or-later
// Experiments about prompts over cached documents: time to first token, and hits by order and block size.
#include "engine/base/counted.h"
#include "engine/base/translation.h"
#include "engine/experiment/repeat_run.h"
#include "engine/experiment/studies/study.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace spanscope::experiment {

namespace {

/// A question over documents of filler text with these numbers.
query::Node notesQuery(const std::vector<std::uint64_t>& documents, std::int32_t words,
                       std::uint64_t question) {
  query::Join plus{.kind = query::JoinKind::Plus, .children = {}};
  for (const std::uint64_t document : documents)
    plus.children.push_back(studyMessage(query::Role::User, fillerText(words, document)));
  query::Join cross{.kind = query::JoinKind::Cross, .children = {}};
  cross.children.push_back(studyMessage(query::Role::System, "Answer from the notes."));
  cross.children.push_back({std::move(plus)});
  cross.children.push_back(
      studyMessage(query::Role::User, "What was said of the river? (" + std::to_string(question) + ")"));
  return studyGenerate({std::move(cross)}, 1, 0);
}

double cachedPercent(const metrics::RunValues& measured) {
  return 100.0 * static_cast<double>(measured.cachedTokens) / static_cast<double>(measured.promptTokens);
}

}  // namespace

namespace {

constexpr std::array kRagFields = {
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
constexpr std::array kRagMeasures = {
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 2, true},
    Measure{"cached_share", forTranslation("Experiments", "prompt cache hits"), "%", 1}};

/// `question`: 0 is the question of the user's query, if there is one.
plan::Plan ragPlan(const ExperimentRequest& request, std::int32_t documents, std::uint64_t question) {
  const auto count = static_cast<std::size_t>(documents);
  if (!request.own) {
    std::vector<std::uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), request.seed * 100'003);
    return studyPlan(notesQuery(numbers, numberOf(request, "words"), question));
  }
  return studyPlan(
      request.own->query({.documents = documentsInTurn(count, 0), .question = question, .maxTokens = 1}));
}

void measureRag(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
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
                    {measured.timeToFirstToken.value_or(0) * kMilliseconds, cachedPercent(measured)});
        };
        study.clearCache();
        add(", empty cache", study.run(ragPlan(result.request, count, number), policy));
        // Another question over the same documents in another order.
        const plan::Plan next = ragPlan(result.request, count, number + 1);
        add(", cached documents", study.run(withReversedPluses(next), policy));
        study.step();
      }
    }
  }
}

}  // namespace

const Experiment kRagStudy{
    .name = "rag",
    .title = forTranslation("Experiments", /*id:time-first-token*/ "Time to first token of RAG"),
    .brief = forTranslation(
        "Experiments",
        "How long does the first token take as the number of documents grows? The experiment compares an "
        "empty cache with documents that an earlier question has cached in reversed order."),
    .xName = forTranslation("Experiments", "documents"),
    .isXLogarithmic = true,
    .fields = kRagFields,
    .measures = kRagMeasures,
    .repeats = 5,
    .own = {.count = "documents", .made = "words"},
    .measure = measureRag};

namespace {

constexpr std::array kReuseFields = {
    ExperimentField{"words", forTranslation("Experiments", "Words per document"),
                    forTranslation("Experiments", "Approximate, in whole sentences"), "25,50,100,200",
                    FieldKind::Numbers, 2, 10'000},
    ExperimentField{"documents", forTranslation("Experiments", "Documents"),
                    forTranslation("Experiments", "Number of documents under the plus"), "4",
                    FieldKind::Number, 1, 256},
    ExperimentField{"orders", forTranslation("Experiments", "Order of the documents"),
                    forTranslation("Experiments",
                                   "One line for each: the earlier order (same), from the last to the first "
                                   "(reversed), random for each repeat (shuffled)"),
                    "same,reversed", FieldKind::Words, 1, 1, "same,reversed,shuffled"},
    ExperimentField{"block_sizes", forTranslation("Experiments", "Tokens per block"),
                    forTranslation("Experiments", "One line for each"), "4,16,64", FieldKind::Numbers, 1,
                    1024},
    ExperimentField{"policies", forTranslation("Experiments", "Policies"),
                    forTranslation("Experiments", "One line for each policy, order and block size"), "spans",
                    FieldKind::Policies}};
constexpr std::array kReuseMeasures = {
    Measure{"cached_share", forTranslation("Experiments", "prompt cache hits"), "%", 1},
    Measure{"ttft_ms", forTranslation("Experiments", "time to first token"), "ms", 2, true}};

std::vector<std::uint64_t> inOrder(std::vector<std::uint64_t> documents, const std::string& order,
                                   std::uint64_t seed) {
  if (order == "reversed") std::ranges::reverse(documents);
  if (order == "shuffled") {
    std::mt19937_64 random(seed);
    // A shuffle of the standard library may give another order on other systems.
    for (std::size_t left = documents.size(); left > 1; --left)
      std::swap(documents[left - 1], documents[static_cast<std::size_t>(random() % left)]);
  }
  return documents;
}

/// Returns a question over documents in this order. `seen`: their numbers, or the indices of the user's
/// documents.
plan::Plan reusePlan(const ExperimentRequest& request, const std::vector<std::uint64_t>& seen,
                     std::int32_t words, std::uint64_t question) {
  if (!request.own) return studyPlan(notesQuery(seen, words, question));
  return studyPlan(request.own->query(
      {.documents = {seen.begin(), seen.end()}, .question = question - 1, .maxTokens = 1}));
}

void measureReuse(ExperimentResult& result, const ExperimentModel& model, const ExperimentProgress& report,
                  const std::stop_token& stop) {
  const ExperimentRequest& request = result.request;
  const std::vector<std::int32_t> blockSizes = numbersOf(result.request, "block_sizes");
  const std::vector<std::string> orders = wordsOf(result.request, "orders");
  const std::vector<std::string> policies = policiesOf(result.request, "policies");
  const std::int32_t documents = numberOf(result.request, "documents");
  // The user's documents keep their length.
  const std::vector<std::int32_t> lengths =
      request.own ? std::vector{static_cast<std::int32_t>(
                        std::lround(request.own->meanWords(static_cast<std::size_t>(documents))))}
                  : numbersOf(request, "words");
  const auto repeats = static_cast<std::size_t>(result.request.repeats);
  result.total = lengths.size() * blockSizes.size() * policies.size() * repeats;
  for (const std::int32_t blockSize : blockSizes) {
    // The pool has about as many tokens with each block size, so that nothing is evicted.
    ExperimentModel sized = model;
    const std::int64_t tokens = std::int64_t{model.session.blockSize} * model.session.blockCount;
    sized.session.blockSize = blockSize;
    sized.session.blockCount = static_cast<std::int32_t>(tokens / blockSize + 2);
    Study study(result, sized, report, stop);
    study.begin("warming up");
    study.run(reusePlan(request, {0}, lengths.front(), 1), policies.front());
    if (request.own) study.remark(kOtherQuestion);
    for (const std::int32_t words : lengths) {
      for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
        std::vector<std::uint64_t> seen;
        for (std::int32_t i = 0; i < documents; ++i)
          seen.push_back(static_cast<std::uint64_t>(i) +
                         (request.own ? 0 : (request.seed + repeat) * 100'003 + 2));
        for (const std::string& policy : policies) {
          study.begin(counted(words, "word") + " per document, blocks of " + std::to_string(blockSize) +
                      ", policy " + policy);
          for (std::size_t i = 0; i < orders.size(); ++i) {
            study.clearCache();
            study.run(reusePlan(request, seen, words, 1), policy);
            const std::vector<std::uint64_t> asked = inOrder(seen, orders[i], result.request.seed + repeat);
            const Study::Ran ran = study.run(reusePlan(request, asked, words, 2), policy);
            const metrics::RunValues& measured = ran.sample.measured;
            const std::string line =
                policy + ", " + orders[i] + " order, blocks of " + std::to_string(blockSize);
            study.add(line, words,
                      {cachedPercent(measured), measured.timeToFirstToken.value_or(0) * kMilliseconds});
          }
          study.step();
        }
      }
    }
  }
}

}  // namespace

const Experiment kReuseStudy{
    .name = "reuse",
    .title = forTranslation("Experiments", "Reuse by length, order and block size"),
    .brief = forTranslation(
        "Experiments",
        "A prompt has cached documents and a new question. How much of the prompt is a cache hit? The share "
        "depends on the length and order of the documents, and on the block size."),
    .xName = forTranslation("Experiments", "words per document"),
    .isXLogarithmic = true,
    .fields = kReuseFields,
    .measures = kReuseMeasures,
    .repeats = 5,
    .own = {.count = "documents", .made = "words"},
    .measure = measureReuse};

}  // namespace spanscope::experiment
