// SPDX-License-Identifier: GPL-3.0-or-later
// Plans on the bundled checkpoint: answers, reuse between runs, batching, limits and stopping.
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/observation.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/trace/memory_bytes.h"
#include "engine/trace/replay.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <tuple>
#include <utility>

using namespace spanscope;
using spanscope::policy::kPrefix;
using spanscope::policy::kSpans;
using spanscope::policy::Policy;
using spanscope::product_text::worded;
using spanscope::run::RunOptions;
using spanscope::run::RunResult;
using spanscope::test::SpanletSession;

namespace {

plan::Plan planOf(const std::string& json, const plan::PlanOptions& options = {}) {
  const auto parsed = query::parseJson(json);
  if (!parsed.query) throw Failure({.file = "test", .place = json, .found = "errors", .expected = "a query"});
  const auto result = plan::makePlan(*parsed.query, options);
  if (!result.plan) throw Failure(result.problems.front());
  return *result.plan;
}

const char* const kMira =
    R"({"user":"Mira lives in Lisbon. Mira plays the cello. The lamp gave little light."})";
const char* const kTarek = R"({"user":"Tarek is a baker. The pet of Tarek is called Biscuit."})";
const char* const kNadia = R"({"user":"Nadia was born in May. Nadia works at Initech."})";

std::string rag(const std::vector<std::string>& documents, const std::string& question) {
  std::string json = R"({"g":{"model":"spnl/spanlet","max_tokens":32,"temperature":0.0,"input":{"cross":[)"
                     R"({"system":"You are a helpful assistant. Answer from the documents."},{"plus":[)";
  for (std::size_t i = 0; i < documents.size(); ++i) json += (i > 0 ? "," : "") + documents[i];
  return json + R"(]},{"user":")" + question + R"("}]}}})";
}

std::string judge(int candidates, float temperature, int innerTokens = 24) {
  std::string json = R"({"g":{"model":"spnl/spanlet","max_tokens":80,"temperature":0.0,"input":{"cross":[)"
                     R"({"system":"You compute an evaluation score from 0 to 100."},{"plus":[)";
  for (int i = 0; i < candidates; ++i) {
    json += std::string(i > 0 ? "," : "") + R"({"g":{"model":"spnl/spanlet","max_tokens":)" +
            std::to_string(innerTokens) + R"(,"temperature":)" + std::to_string(temperature) +
            R"(,"input":{"cross":[{"system":"You write an introductory email."},{"user":"Candidate )" +
            std::to_string(i) + R"( applies at IBM."}]}}})";
  }
  return json + R"(]},{"user":"Show the best email and its score."}]}}})";
}

RunOptions withPolicy(const Policy& policy) {
  RunOptions options;
  options.policy = policy;
  return options;
}

/// Of all threads of this process, since it began.
double processorSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Counts what it is asked to encode.
class CountingTokenizer final : public text::Tokenizer {
 public:
  explicit CountingTokenizer(const text::Tokenizer& tokenizer) : m_tokenizer(tokenizer) {}
  void encodeTo(std::string_view text, const std::stop_token& stop,
                const text::TokenSink& sink) const override {
    encodedBytes += text.size();
    m_tokenizer.encodeTo(text, stop, sink);
  }
  TokenId controlId(std::string_view piece) const override { return m_tokenizer.controlId(piece); }
  std::string bytes(TokenId id) const override { return m_tokenizer.bytes(id); }
  std::string display(TokenId id) const override { return m_tokenizer.display(id); }
  bool isControl(TokenId id) const override { return m_tokenizer.isControl(id); }
  std::int32_t vocabularySize() const override { return m_tokenizer.vocabularySize(); }

  mutable std::size_t encodedBytes = 0;

 private:
  const text::Tokenizer& m_tokenizer;
};

std::string longText(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) text += "The lamp gave little light. ";
  return text;
}

std::string copies(int count, const std::string& text) {
  return R"({"plus":[{"repeat":{"n":)" + std::to_string(count) +
         R"(,"g":{"model":"m","max_tokens":4,"temperature":0.5,"input":{"user":")" + text + R"("}}}}]})";
}

}  // namespace

class TestSessionRun : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answersFromDocumentsInAnyOrder_data() {
    QTest::addColumn<const Policy*>("policy");
    QTest::newRow("prefix") << &kPrefix;
    QTest::newRow("spans") << &kSpans;
  }
  void answersFromDocumentsInAnyOrder() {
    QFETCH(const Policy*, policy);
    SpanletSession spanlet;
    std::vector<std::string> documents{kMira, kTarek, kNadia};
    std::sort(documents.begin(), documents.end());
    do {
      const RunResult result =
          spanlet.session->run(planOf(rag(documents, "Where does Mira live?")), withPolicy(*policy));
      QCOMPARE(result.outcome, trace::RunOutcome::Finished);
      QCOMPARE(QString::fromStdString(result.answer), QStringLiteral("Mira lives in Lisbon."));
    } while (std::next_permutation(documents.begin(), documents.end()));
  }

  void movedDocumentsAreRelocatedHitsAndOnlyTheQuestionIsComputed() {
    SpanletSession spanlet;
    const RunResult first =
        spanlet.session->run(planOf(rag({kMira, kTarek, kNadia}, "Where does Mira live?")), {});
    QCOMPARE(first.steps.size(), std::size_t{1});
    QCOMPARE(first.steps[0].metrics.cachedTokens, 0);

    spanlet.sink.events.clear();
    const RunResult second =
        spanlet.session->run(planOf(rag({kTarek, kMira, kNadia}, "Where does Mira live?")), {});
    QCOMPARE(second.answer, first.answer);
    const auto tables = spanlet.sink.all<trace::SpanTableLaidOut>();
    QCOMPARE(tables.size(), std::size_t{1});
    const auto& segments = tables[0].segments;
    QCOMPARE(segments.size(), std::size_t{5});  // system, three documents, question
    for (const auto& lookup : spanlet.sink.all<trace::BlockLookedUp>()) {
      // The first two documents changed places; the third has its old position.
      switch (lookup.segment) {
        case 0:
        case 3:
          QCOMPARE(lookup.outcome, trace::LookupOutcome::Hit);
          break;
        case 1:
        case 2:
          QCOMPARE(lookup.outcome, trace::LookupOutcome::Relocated);
          QVERIFY(lookup.storedBase != lookup.base);
          break;
        default:
          QCOMPARE(lookup.outcome, trace::LookupOutcome::Miss);
          QCOMPARE(lookup.reason, trace::MissReason::ContextDiffers);
      }
    }
    const auto question = static_cast<std::int64_t>(segments[4].tokens.size());
    QCOMPARE(second.steps[0].metrics.computedTokens, question);
    QCOMPARE(second.steps[0].metrics.cachedTokens, second.steps[0].metrics.promptTokens - question);
    QCOMPARE(second.steps[0].metrics.relocatedTokens,
             static_cast<std::int64_t>(segments[1].tokens.size() + segments[2].tokens.size()));
  }

  void theSamePromptAgainComputesOneToken() {
    SpanletSession spanlet;
    const auto plan = planOf(rag({kMira, kTarek}, "What is the name of the pet of Tarek?"));
    const RunResult first = spanlet.session->run(plan, {});
    const RunResult second = spanlet.session->run(plan, {});
    QCOMPARE(QString::fromStdString(first.answer), QStringLiteral("The pet of Tarek is Biscuit."));
    QCOMPARE(second.answer, first.answer);
    QCOMPARE(second.steps[0].tokens, first.steps[0].tokens);
    QCOMPARE(second.steps[0].metrics.computedTokens, 1);
  }

  void closureOfAnInnerGenerateHitsAllThatAPassHasSeen() {
    SpanletSession spanlet;
    const auto plan = planOf(judge(3, 0.9F));
    QCOMPARE(plan.steps.size(), std::size_t{4});
    const RunResult result = spanlet.session->run(plan, {});
    QCOMPARE(result.outcome, trace::RunOutcome::Finished);
    // Of each subquery result everything was a hit but the last sampled token and, where that was no end
    // token, the closing one: no pass has computed these.
    const auto tables = spanlet.sink.all<trace::SpanTableLaidOut>();
    const auto& segments = tables.back().segments;
    QCOMPARE(segments.size(), std::size_t{5});  // system, three subquery results, request
    std::vector<std::int64_t> found(segments.size(), 0);
    for (const trace::Event& event : spanlet.sink.events) {
      const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload);
      if (lookup != nullptr && event.request == result.steps.back().request)
        found[lookup->segment] += lookup->tokens;
    }
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int64_t unseen = result.steps[i].outcome == trace::StepOutcome::EndToken ? 1 : 2;
      QCOMPARE(found[i + 1], static_cast<std::int64_t>(segments[i + 1].tokens.size()) - unseen);
    }
  }

  void innerStepsShareForwardPasses() {
    SpanletSession spanlet;
    spanlet.session->run(planOf(judge(4, 0.9F)), {});
    std::size_t most = 0;
    for (const auto& batch : spanlet.sink.all<trace::BatchComputed>()) {
      std::set<RequestId> requests;
      for (const auto& entry : batch.entries) requests.insert(entry.request);
      most = std::max(most, requests.size());
    }
    QCOMPARE(most, std::size_t{4});
  }

  void outputsReachTheOuterPromptInThreeWays_data() {
    QTest::addColumn<bool>("distribute");
    QTest::addColumn<int>("form");
    QTest::newRow("closure") << true << static_cast<int>(plan::OutputForm::Recomputed);
    QTest::newRow("output anew") << false << static_cast<int>(plan::OutputForm::Recomputed);
    QTest::newRow("output reused") << false << static_cast<int>(plan::OutputForm::Reused);
  }
  void outputsReachTheOuterPromptInThreeWays() {
    QFETCH(bool, distribute);
    QFETCH(int, form);
    SpanletSession spanlet;
    plan::PlanOptions options;
    options.distribute = distribute;
    options.outputForm = static_cast<plan::OutputForm>(form);
    const RunResult result = spanlet.session->run(planOf(judge(2, 0.9F), options), {});
    QVERIFY2(result.outcome == trace::RunOutcome::Finished,
             result.error ? result.error->message().c_str() : "");
    const auto tables = spanlet.sink.all<trace::SpanTableLaidOut>();
    const auto& outer = tables.back().segments;
    const bool reused = options.outputForm == plan::OutputForm::Reused;
    QCOMPARE(std::any_of(outer.begin(), outer.end(), [](const auto& s) { return s.visibleBegin > 0; }),
             reused);
    if (reused) {
      // The outputs keep the values they had: of each only the last sampled and the closing token are
      // computed.
      QVERIFY(result.steps.back().metrics.cachedTokens > 0);
    }
  }

  void sameSeedSameRunAndAnotherSeedAnother() {
    SpanletSession a;
    SpanletSession b({}, 1);
    plan::PlanOptions options;
    options.seed = 5;
    const RunResult first = a.session->run(planOf(judge(2, 0.9F), options), {});
    const RunResult second = b.session->run(planOf(judge(2, 0.9F), options), {});
    for (std::size_t i = 0; i < first.steps.size(); ++i)
      QCOMPARE(second.steps[i].tokens, first.steps[i].tokens);
    options.seed = 6;
    const RunResult third = a.session->run(planOf(judge(2, 0.9F), options), {});
    QVERIFY(third.steps[0].tokens != first.steps[0].tokens || third.steps[1].tokens != first.steps[1].tokens);
  }

  void attentionMassRowsSumToOneAndReachEverySegment() {
    SpanletSession spanlet;
    RunOptions options;
    options.observedLayers = {0, 5};
    options.attentionDetail = run::AttentionDetail::Heads;
    spanlet.session->run(planOf(rag({kMira, kTarek}, "Where does Mira live?")), options);
    const auto masses = spanlet.sink.all<trace::AttentionMass>();
    QVERIFY(masses.size() > 10);
    for (const auto& mass : masses) {
      QVERIFY(mass.layer == 0 || mass.layer == 5);
      const std::size_t width = mass.mass.size() / static_cast<std::size_t>(mass.heads);
      for (std::int32_t head = 0; head < mass.heads; ++head) {
        double sum = 0;
        for (std::size_t k = 0; k < width; ++k) {
          sum += static_cast<double>(mass.mass[static_cast<std::size_t>(head) * width + k]);
        }
        QVERIFY2(std::abs(sum - 1) < 1e-5, qPrintable(QString::number(sum)));
      }
    }
    for (const auto& token : spanlet.sink.all<trace::TokenGenerated>()) {
      if (token.index == 0)
        continue;  // sampled from a row of the prompt, which is observed with its query block
      QCOMPARE(token.segmentMass.size(), std::size_t{4});
      double sum = 0;
      for (const float share : token.segmentMass) sum += static_cast<double>(share);
      QVERIFY(std::abs(sum - 1) < 1e-5);
    }
  }

  void attentionStaysWithinItsLimit() {
    run::SessionConfig config;
    config.rowsPerPass = 16;
    SpanletSession all(config);
    SpanletSession limited(config);
    RunOptions options;
    options.observedLayers = {0, 1, 2, 3, 4, 5};
    options.attentionDetail = run::AttentionDetail::Heads;
    const auto plan = planOf(rag({kMira, kTarek}, "Where does Mira live?"));
    all.session->run(plan, options);
    const auto bytesOf = [](const SpanletSession& session) {
      std::uint64_t bytes = 0;
      for (const auto& mass : session.sink.all<trace::AttentionMass>()) {
        bytes += sizeof(trace::Event) + trace::heapBytes(mass);
      }
      for (const auto& looked : session.sink.all<trace::SegmentAttention>()) {
        bytes += sizeof(trace::Event) + trace::heapBytes(looked);
      }
      return bytes;
    };
    QVERIFY(all.sink.all<trace::AttentionLeftOut>().empty());
    const std::uint64_t whole = bytesOf(all);
    const std::size_t count = all.sink.all<trace::AttentionMass>().size();
    const std::size_t lookedCount = all.sink.all<trace::SegmentAttention>().size();

    options.attentionBytes = whole / 2;
    limited.session->run(plan, options);
    const auto masses = limited.sink.all<trace::AttentionMass>();
    QVERIFY(bytesOf(limited) <= whole / 2);
    QVERIFY(bytesOf(limited) > whole / 4);
    std::map<std::int32_t, std::size_t> layers;
    for (const auto& mass : masses) ++layers[mass.layer];
    // All at first, then fewer and fewer, down to the last alone.
    QCOMPARE(layers.size(), std::size_t{6});
    QVERIFY(layers[5] > layers[3]);
    QVERIFY(layers[3] > layers[4]);
    const auto said = limited.sink.all<trace::AttentionLeftOut>();
    QCOMPARE(said.size(), std::size_t{2});
    QCOMPARE(said.front().leftOut, std::uint64_t{1});
    // What is left of SegmentAttention where layers are scarce has fewer of them.
    const auto looked = limited.sink.all<trace::SegmentAttention>();
    const auto thinned = std::count_if(looked.begin(), looked.end(),
                                       [](const auto& event) { return event.layers.size() < 6; });
    QVERIFY(thinned > 0);
    QCOMPARE(looked.front().layers, (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5}));
    for (const auto& event : looked) {
      QCOMPARE(event.layers.back(), 5);
      QCOMPARE(event.mass.size(), event.layers.size() * 4 * event.keySegments.size());
      QCOMPARE(event.first.size(), event.mass.size());
    }
    QCOMPARE(said.back().leftOut,
             count - masses.size() + lookedCount - looked.size() + static_cast<std::uint64_t>(thinned));
    QCOMPARE(said.back().recorded, std::uint64_t{masses.size() + looked.size()});
    QCOMPARE(said.back().limit, whole / 2);

    // What each token saw of the segments is there all the same.
    const auto expected = all.sink.all<trace::TokenGenerated>();
    const auto tokens = limited.sink.all<trace::TokenGenerated>();
    QCOMPARE(tokens.size(), expected.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) QVERIFY(tokens[i].segmentMass == expected[i].segmentMass);

    // The next run has room of its own.
    limited.session->clearCache();
    options.attentionBytes = 2 * whole;
    limited.session->run(plan, options);
    QCOMPARE(limited.sink.all<trace::AttentionLeftOut>().size(), std::size_t{2});
    QCOMPARE(limited.sink.all<trace::AttentionMass>().size(), masses.size() + count);
  }

  void theLikeliestTokensAreToldWhereAskedAndChangeNothing() {
    SpanletSession plain;
    SpanletSession reporting;
    const std::string json = rag({kMira, kTarek, kNadia}, "Where does Mira live?");
    const RunResult expected = plain.session->run(planOf(json), {});
    RunOptions options;
    options.alternatives = 3;
    const RunResult found = reporting.session->run(planOf(json), options);
    QCOMPARE(found.steps.back().tokens, expected.steps.back().tokens);
    QVERIFY(plain.sink.all<trace::TokenAlternatives>().empty());
    const auto reported = reporting.sink.all<trace::TokenAlternatives>();
    const auto drawn = reporting.sink.all<trace::TokenGenerated>();
    QCOMPARE(reported.size(), drawn.size());
    for (std::size_t i = 0; i < reported.size(); ++i) {
      QCOMPARE(reported[i].index, drawn[i].index);
      QCOMPARE(reported[i].tokens.size(), std::size_t{3});
      QCOMPARE(reported[i].tokens[0].token, drawn[i].token);
      QCOMPARE(reported[i].tokens[0].probability, drawn[i].probability);
      QCOMPARE(reported[i].tokens[0].shown, drawn[i].shown);
      QVERIFY(reported[i].tokens[0].probability >= reported[i].tokens[1].probability);
    }
  }

  void observingChangesNothing() {
    SpanletSession plain;
    SpanletSession observed;
    RunOptions options;
    options.observedLayers = {0, 1, 2, 3, 4, 5};
    options.observeRows = true;
    const auto plan = planOf(judge(2, 0.9F));
    const RunResult a = plain.session->run(plan, {});
    for (const auto detail :
         {run::AttentionDetail::Heads, run::AttentionDetail::Prompt, run::AttentionDetail::Answer}) {
      options.attentionDetail = detail;
      observed.session->clearCache();
      const RunResult b = observed.session->run(plan, options);
      for (std::size_t i = 0; i < a.steps.size(); ++i) QCOMPARE(b.steps[i].tokens, a.steps[i].tokens);
    }
  }

  /// Where the documents are in one segment, their values are the sums over the single keys of their tokens.
  void answersTellPartsOfASegment() {
    for (const bool everyToken : {false, true}) {
      SpanletSession spanlet;
      SpanletSession full;
      const auto plan = planOf(rag({kMira, kTarek}, "Where does Mira live?"));
      RunOptions options;
      options.policy = policy::kPrefix;
      options.observedLayers = {1, 4};
      if (everyToken) options.attentionDetail = run::AttentionDetail::Heads;
      options.observeRows = everyToken;
      const RunResult result = spanlet.session->run(plan, options);
      options.attentionDetail = run::AttentionDetail::Heads;
      options.observeRows = true;
      full.session->run(plan, options);

      const auto divided = spanlet.sink.all<trace::PromptDivided>();
      QCOMPARE(divided.size(), std::size_t{1});
      QCOMPARE(divided[0].parts.size(), std::size_t{4});
      const std::vector<trace::PartRange>& ranges = divided[0].ranges;
      QCOMPARE(ranges.size(), std::size_t{4});
      const auto parts = spanlet.sink.all<trace::PartAttention>();
      QCOMPARE(parts.size(), result.steps[0].tokens.size());
      std::map<std::int32_t, std::map<std::int32_t, trace::AttentionMass>> maps;  // by row and layer
      for (const auto& mass : full.sink.all<trace::AttentionMass>()) maps[mass.row][mass.layer] = mass;
      const std::int32_t prompt = ranges.back().end;
      for (const trace::PartAttention& event : parts) {
        QCOMPARE(event.keyParts, (std::vector<std::uint32_t>{0, 1, 2, 3}));
        QCOMPARE(event.layers, (std::vector<std::int32_t>{1, 4}));
        QCOMPARE(event.heads, 4);
        std::size_t at = 0;
        for (const std::int32_t layer : event.layers) {
          const trace::AttentionMass& keys = maps.at(prompt - 1 + event.index).at(layer);
          QCOMPARE(keys.keySpan, 1);
          const std::size_t width = keys.mass.size() / 4;
          for (std::size_t head = 0; head < 4; ++head) {
            for (std::size_t part = 0; part < 4; ++part, ++at) {
              const auto begin = static_cast<std::size_t>(ranges[part].begin);
              const std::size_t end = part == 3 ? width : static_cast<std::size_t>(ranges[part].end);
              const float* const values = keys.mass.data() + head * width;
              const double sum = std::accumulate(values + begin, values + end, 0.0);
              QVERIFY(std::abs(sum - static_cast<double>(event.mass[at])) < 1e-5);
              QCOMPARE(event.first[at], values[begin]);
            }
          }
        }
      }
      // Key blocks are reported as under any other policy.
      for (const auto& mass : spanlet.sink.all<trace::AttentionMass>())
        QCOMPARE(mass.keySpan, everyToken ? 1 : 16);
    }
  }

  /// By default only what the answer's tokens looked at, each once: the sums of the full maps.
  void answersTellSegmentsByLayerAndHead() {
    SpanletSession spanlet;
    SpanletSession full;
    const auto plan = planOf(rag({kMira, kTarek}, "Where does Mira live?"));
    RunOptions options;
    options.observedLayers = {1, 4};
    const RunResult result = spanlet.session->run(plan, options);
    options.attentionDetail = run::AttentionDetail::Heads;
    options.observeRows = true;
    full.session->run(plan, options);

    const auto looked = spanlet.sink.all<trace::SegmentAttention>();
    const auto means = spanlet.sink.all<trace::AttentionMass>();
    const auto tokens = spanlet.sink.all<trace::TokenGenerated>();
    QCOMPARE(looked.size(), result.steps[0].tokens.size());
    QCOMPARE(means.size(), looked.size());
    std::map<std::int32_t, std::map<std::int32_t, trace::AttentionMass>>
        maps;  // by row of the last segment, layer
    for (const auto& mass : full.sink.all<trace::AttentionMass>()) {
      if (mass.segment == looked.front().segment) maps[mass.row][mass.layer] = mass;
    }
    for (std::size_t i = 0; i < looked.size(); ++i) {
      const trace::SegmentAttention& event = looked[i];
      QCOMPARE(event.index, static_cast<std::int32_t>(i));
      QCOMPARE(event.row, looked[0].row + event.index);
      QCOMPARE(event.rows, 1);
      QCOMPARE(event.virtualIndex, event.row / 16);
      QCOMPARE(event.keySegments, (std::vector<std::uint32_t>{0, 1, 2, 3}));
      QCOMPARE(event.layers, (std::vector<std::int32_t>{1, 4}));
      QCOMPARE(event.heads, 4);
      QCOMPARE(event.mass.size(), std::size_t{2 * 4 * 4});
      QCOMPARE(event.first.size(), event.mass.size());
      const trace::AttentionMass& mean = means[i];
      QCOMPARE(mean.layer, -1);
      QCOMPARE(mean.heads, 1);
      QCOMPARE(mean.row, event.row);
      std::vector<double> meanOfKeys;
      for (std::size_t row = 0; row < 8; ++row) {
        const trace::AttentionMass& map = maps.at(event.row).at(event.layers[row / 4]);
        QCOMPARE(map.keySpan, 1);
        std::size_t at = row % 4 * (map.mass.size() / 4);
        meanOfKeys.resize(map.mass.size() / 4);
        for (std::size_t key = 0; key < meanOfKeys.size(); ++key) {
          meanOfKeys[key] += static_cast<double>(map.mass[at + key]) / 8;
        }
        for (std::size_t segment = 0; segment < 4; ++segment) {
          double sum = 0;
          for (std::int32_t key = 0; key < map.keyBlocks[segment]; ++key) {
            sum += static_cast<double>(map.mass[at + static_cast<std::size_t>(key)]);
          }
          QVERIFY(std::abs(sum - static_cast<double>(event.mass[row * 4 + segment])) < 1e-5);
          QVERIFY(std::abs(map.mass[at] - event.first[row * 4 + segment]) < 1e-6F);
          at += static_cast<std::size_t>(map.keyBlocks[segment]);
        }
      }
      std::size_t key = 0;
      std::size_t block = 0;
      const trace::AttentionMass& map = maps.at(event.row).at(1);
      for (std::size_t segment = 0; segment < 4; ++segment) {
        for (std::int32_t first = 0; first < map.keyBlocks[segment]; first += 16, ++block) {
          double sum = 0;
          for (std::int32_t k = first; k < std::min(first + 16, map.keyBlocks[segment]); ++k)
            sum += meanOfKeys[key++];
          QVERIFY(std::abs(sum - static_cast<double>(mean.mass.at(block))) < 1e-5);
        }
        double share = 0;
        for (std::size_t row = 0; row < 8; ++row)
          share += static_cast<double>(event.mass[row * 4 + segment]) / 8;
        QVERIFY(std::abs(share - static_cast<double>(tokens[i].segmentMass[segment])) < 1e-5);
      }
    }
  }

  void promptsAreToldWhereAsked() {
    SpanletSession spanlet;
    RunOptions options;
    options.observedLayers = {0, 1, 2, 3, 4, 5};
    options.attentionDetail = run::AttentionDetail::Prompt;
    const RunResult result =
        spanlet.session->run(planOf(rag({kMira, kTarek}, "Where does Mira live?")), options);
    std::int64_t promptRows = 0;
    std::size_t answerRows = 0;
    for (const auto& event : spanlet.sink.all<trace::SegmentAttention>()) {
      if (event.index >= 0) {
        ++answerRows;
        continue;
      }
      QCOMPARE(event.row, -1);
      promptRows += event.rows;
      // Rows of an independent segment see themselves alone.
      if (event.segment == 1 || event.segment == 2) QCOMPARE(event.keySegments.size(), std::size_t{1});
      for (std::size_t head = 0; head < 24; ++head) {
        float sum = 0;
        for (std::size_t segment = 0; segment < event.keySegments.size(); ++segment) {
          const std::size_t at = head * event.keySegments.size() + segment;
          sum += event.mass[at];
          QVERIFY(event.first[at] <= event.mass[at] + 1e-6F);
        }
        QVERIFY(std::abs(sum - 1) < 1e-4F);
      }
    }
    QCOMPARE(promptRows, result.steps[0].metrics.promptTokens);
    QCOMPARE(answerRows, result.steps[0].tokens.size());
    for (const auto& mass : spanlet.sink.all<trace::AttentionMass>()) {
      QCOMPARE(mass.layer, -1);
      const float sum = std::accumulate(mass.mass.begin(), mass.mass.end(), 0.0F);
      QVERIFY(std::abs(sum - 1) < 1e-4F);
    }
  }

  void everyRowOnEveryKeySumsToTheBlocks() {
    SpanletSession rows;
    SpanletSession blocks;
    RunOptions options;
    options.observedLayers = {2};
    options.attentionDetail = run::AttentionDetail::Heads;
    const auto plan = planOf(rag({kMira, kTarek}, "Where does Mira live?"));
    blocks.session->run(plan, options);
    options.observeRows = true;
    rows.session->run(plan, options);

    const auto sumsOf = [](const SpanletSession& session) {
      // Of each segment and query block: attention of head 0 on each key block, over all rows.
      std::map<std::pair<std::uint32_t, std::int32_t>, std::vector<double>> sums;
      for (const auto& mass : session.sink.all<trace::AttentionMass>()) {
        std::size_t at = 0;
        std::vector<double>& total = sums[{mass.segment, mass.virtualIndex}];
        std::size_t first = 0;
        for (const std::int32_t stretches : mass.keyBlocks) {
          for (std::int32_t i = 0; i < stretches; ++i, ++at) {
            const std::size_t block = first + static_cast<std::size_t>(i * mass.keySpan / 16);
            if (block >= total.size()) total.resize(block + 1, 0.0);
            total[block] += static_cast<double>(mass.mass[at]) * mass.rows;
          }
          first += static_cast<std::size_t>((stretches * mass.keySpan + 15) / 16);
        }
      }
      return sums;
    };
    for (const auto& mass : rows.sink.all<trace::AttentionMass>()) {
      QCOMPARE(mass.keySpan, 1);
      QCOMPARE(mass.rows, 1);
      QVERIFY(mass.row >= 0);
    }
    const auto expected = sumsOf(blocks);
    const auto actual = sumsOf(rows);
    QCOMPARE(actual.size(), expected.size());
    for (const auto& [place, sums] : expected) {
      const std::vector<double>& own = actual.at(place);
      QCOMPARE(own.size(), sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) QVERIFY(std::abs(own[i] - sums[i]) < 1e-4);
    }
  }

  void longPromptsAreObservedByBlock() {
    SpanletSession spanlet;
    std::string filler;
    for (int i = 0; i < 220; ++i) filler += "The lamp gave little light. ";
    RunOptions options;
    options.observedLayers = {0};
    options.attentionDetail = run::AttentionDetail::Heads;
    options.observeRows = true;
    spanlet.session->run(planOf(rag({R"({"user":")" + filler + R"("})"}, "Where does Mira live?")), options);
    const auto masses = spanlet.sink.all<trace::AttentionMass>();
    QVERIFY(masses.size() > std::size_t{run::kMostTokensForSingleKeys});
    for (const auto& mass : masses) QCOMPARE(mass.keySpan, 16);
  }

  void stopEndsTheRunAndLeavesThePoolFree() {
    SpanletSession spanlet;
    std::stop_source source;
    int tokens = 0;
    spanlet.sink.onEvent = [&](const trace::Event& event) {
      if (std::holds_alternative<trace::TokenGenerated>(event.payload) && ++tokens == 3)
        source.request_stop();
    };
    const RunResult result = spanlet.session->run(planOf(judge(2, 0.9F)), {}, source.get_token());
    QCOMPARE(result.outcome, trace::RunOutcome::Stopped);
    spanlet.sink.onEvent = nullptr;
    for (const auto& block : spanlet.session->dumpPool().blocks) QCOMPARE(block.references, 0);
    const RunResult again = spanlet.session->run(planOf(rag({kMira}, "Where does Mira live?")), {});
    QCOMPARE(QString::fromStdString(again.answer), QStringLiteral("Mira lives in Lisbon."));
  }

  void stopFromAnotherThreadAnswersQuickly() {
    SpanletSession spanlet;
    std::string filler;
    for (int i = 0; i < 2500; ++i) filler += "The lamp gave little light. ";
    const auto plan = planOf(rag({R"({"user":")" + filler + R"("})"}, "Where does Mira live?"));
    run::SessionConfig config;
    config.blockCount = 2000;
    SpanletSession large(config);
    std::stop_source source;
    double asked = 0;
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      asked = processorSeconds();
      source.request_stop();
    });
    const RunResult result = large.session->run(plan, {}, source.get_token());
    const double answered = processorSeconds();
    stopper.join();
    QCOMPARE(result.outcome, trace::RunOutcome::Stopped);
    // The work that was still done, not the time on the clock, which a busy machine stretches: less than what
    // two threads do in 100 ms. The whole prompt takes seconds.
    const double worked = answered - asked;
    QVERIFY2(worked < 0.2, qPrintable(QString("%1 ms").arg(worked * 1000)));
  }

  /// A step is laid out when the pass before has rows left for it, so the first token does not wait for all.
  void promptsAreLaidOutWhenTheyCanBegin() {
    SpanletSession spanlet;
    spanlet.session->run(planOf(copies(40, longText(150))), {});
    int started = 0;
    int startedBeforeFirstPass = -1;
    for (const trace::Event& event : spanlet.sink.events) {
      if (std::holds_alternative<trace::StepStarted>(event.payload)) ++started;
      if (std::holds_alternative<trace::BatchComputed>(event.payload) && startedBeforeFirstPass < 0)
        startedBeforeFirstPass = started;
    }
    QCOMPARE(started, 40);
    QCOMPARE(startedBeforeFirstPass, 1);
  }

  /// A prompt that is too long by far is not encoded to its end to say so.
  void saysAtLeastByHowMuchAPromptIsTooLong() {
    SpanletSession spanlet({}, 2, true, 500);
    const run::RunResult far = spanlet.session->run(planOf(copies(1, longText(40'000))), {});
    QCOMPARE(far.outcome, trace::RunOutcome::Failed);
    QCOMPARE(far.error->found, worded(std::string("<prompt-has> more than 66536 tokens.")));
    QCOMPARE(far.error->expected,
             worded(std::string("The limit is 499 <models-context-less> more than 66037 tokens too many.")));
    const run::RunResult near = spanlet.session->run(planOf(copies(1, longText(300))), {});
    QVERIFY(near.error && near.error->found.find("more than") == std::string::npos);
    const run::RunResult fits = spanlet.session->run(planOf(copies(1, longText(3))), {});
    QCOMPARE(fits.outcome, trace::RunOutcome::Finished);
  }

  /// A stop while a text is encoded ends the run as stopped, not as failed.
  void stopsWhileATextIsEncoded() {
    SpanletSession spanlet({}, 2, true, 1 << 28);
    const plan::Plan plan = planOf(copies(1, longText(300'000)));
    std::stop_source stop;
    const double begin = processorSeconds();
    const std::jthread person([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop.request_stop();
    });
    const run::RunResult result = spanlet.session->run(plan, {}, stop.get_token());
    QCOMPARE(result.outcome, trace::RunOutcome::Stopped);
    QVERIFY(!result.error);
    // All of the text takes two seconds and more.
    const double worked = processorSeconds() - begin;
    QVERIFY2(worked < 1, qPrintable(QString("%1 s").arg(worked)));
  }

  void equalTextsAreEncodedOnce() {
    SpanletSession spanlet;
    const CountingTokenizer counting(*spanlet.tokenizer);
    const std::string text = longText(60);
    run::Session session({}, *spanlet.decoder, *spanlet.backend, "model", "model", &counting,
                         &text::chatTemplateNamed("spanlet"), spanlet.sink);
    session.run(planOf(copies(30, text)), {});
    QVERIFY2(counting.encodedBytes < 2 * text.size(), qPrintable(QString::number(counting.encodedBytes)));
    counting.encodedBytes = 0;
    session.predictor()->predict(planOf(copies(30, text)), {});
    QVERIFY2(counting.encodedBytes < 2 * text.size(), qPrintable(QString::number(counting.encodedBytes)));
  }

  void stopAnswersWhilePromptsAreLaidOut() {
    SpanletSession spanlet;
    std::stop_source source;
    int started = 0;
    spanlet.sink.onEvent = [&](const trace::Event& event) {
      if (std::holds_alternative<trace::StepStarted>(event.payload) && ++started == 3) source.request_stop();
    };
    const RunResult result = spanlet.session->run(planOf(copies(40, "Where?")), {}, source.get_token());
    QCOMPARE(result.outcome, trace::RunOutcome::Stopped);
    QCOMPARE(started, 3);
    for (const auto& block : spanlet.session->dumpPool().blocks) QCOMPARE(block.references, 0);
  }

  void anExceptionInAPassLeavesTheSessionUsable_data() {
    QTest::addColumn<bool>("outOfMemory");
    QTest::addColumn<int>("pass");
    QTest::newRow("out of memory while prompts are computed") << true << 1;
    QTest::newRow("out of memory while tokens are generated") << true << 4;
    QTest::newRow("something else") << false << 2;
  }
  void anExceptionInAPassLeavesTheSessionUsable() {
    QFETCH(bool, outOfMemory);
    QFETCH(int, pass);
    SpanletSession spanlet;
    int passes = 0;
    spanlet.sink.onEvent = [&](const trace::Event& event) {
      if (!std::holds_alternative<trace::BatchComputed>(event.payload) || ++passes != pass) return;
      if (outOfMemory) throw std::bad_alloc();
      throw std::runtime_error("a broken pipe");
    };
    const plan::Plan plan = planOf(judge(3, 0.9F));
    const RunResult broken = spanlet.session->run(plan, {});
    QCOMPARE(broken.outcome, trace::RunOutcome::Failed);
    QVERIFY(broken.error.has_value());
    for (const auto& block : spanlet.session->dumpPool().blocks) QCOMPARE(block.references, 0);

    const RunResult again = spanlet.session->run(plan, {});
    QCOMPARE(again.outcome, trace::RunOutcome::Finished);
    SpanletSession fresh;
    const RunResult expected = fresh.session->run(plan, {});
    QCOMPARE(again.answer, expected.answer);
  }

  void anExceptionWhileLogitsAreComputedLeavesTheSessionUsable() {
    layout::SpanTable table;
    table.segments.emplace_back().tokens = {3, 4, 5, 6, 7, 8};
    test::TinySession tiny(1, {});
    const run::LogitsResult expected = tiny.session->logits({.table = table, .everyToken = true});
    tiny.session->clearCache();
    bool thrown = false;
    tiny.sink.onEvent = [&](const trace::Event& event) {
      if (!std::holds_alternative<trace::BatchComputed>(event.payload) || std::exchange(thrown, true)) return;
      throw std::bad_alloc();
    };
    QVERIFY_EXCEPTION_THROWN(tiny.session->logits({.table = table, .everyToken = true}), std::bad_alloc);
    for (const auto& block : tiny.session->dumpPool().blocks) QCOMPARE(block.references, 0);
    const run::LogitsResult again = tiny.session->logits({.table = table, .everyToken = true});
    QCOMPARE(again.logits.size(), expected.logits.size());
    QCOMPARE(again.logits, expected.logits);
  }

  /// The first token is drawn from the last row of the prompt, which is reported with its block all the same.
  void everyTokenTellsWhereItLooked() {
    SpanletSession spanlet;
    const auto plan = planOf(rag({kMira, kTarek, kNadia}, "Where does Mira live?"));
    RunOptions options;
    options.observedLayers = {0, 1};
    options.attentionDetail = run::AttentionDetail::Heads;
    spanlet.session->run(plan, options);
    const auto tokens = spanlet.sink.all<trace::TokenGenerated>();
    QVERIFY(tokens.size() > 3);
    for (const trace::TokenGenerated& token : tokens) {
      QCOMPARE(token.segmentMass.size(), std::size_t{5});
      const float sum = std::accumulate(token.segmentMass.begin(), token.segmentMass.end(), 0.0F);
      QVERIFY2(std::abs(sum - 1) < 1e-4F, qPrintable(QString::number(static_cast<double>(sum))));
    }
    std::map<std::tuple<std::int32_t, std::uint32_t, std::int32_t>, int> rows;
    for (const auto& mass : spanlet.sink.all<trace::AttentionMass>()) {
      if (mass.row < 0)
        QCOMPARE((rows[{mass.layer, mass.segment, mass.virtualIndex}] += mass.rows), mass.rows);
    }

    SpanletSession byRow;
    options.observeRows = true;
    byRow.session->run(plan, options);
    const auto single = byRow.sink.all<trace::TokenGenerated>();
    for (std::size_t i = 0; i < 5; ++i)
      QVERIFY(std::abs(tokens[0].segmentMass[i] - single[0].segmentMass[i]) < 1e-5F);
  }

  void promptBeyondThePoolIsAnErrorThatSaysByHowMuch() {
    run::SessionConfig config;
    config.blockCount = 5;
    SpanletSession spanlet(config);
    const RunResult result =
        spanlet.session->run(planOf(rag({kMira, kTarek, kNadia}, "Where does Mira live?")), {});
    QCOMPARE(result.outcome, trace::RunOutcome::Failed);
    QVERIFY(result.error.has_value());
    QVERIFY2(QString::fromStdString(result.error->message()).contains("too few"),
             result.error->message().c_str());
    QCOMPARE(QString::fromStdString(result.error->place), QString());  // the generate is the root
    int errors = 0;
    for (const auto& message : spanlet.sink.all<trace::MessageLogged>()) {
      if (message.severity == Severity::Error) ++errors;
    }
    QCOMPARE(errors, 1);
  }

  void theEndOfTheContextIsNoTokenLimit_data() {
    QTest::addColumn<int>("maxTokens");
    QTest::addColumn<int>("room");
    QTest::addColumn<int>("generated");
    QTest::addColumn<int>("outcome");
    const auto row = [](const char* name, int maxTokens, int room, int generated,
                        trace::StepOutcome outcome) {
      QTest::newRow(name) << maxTokens << room << generated << static_cast<int>(outcome);
    };
    row("room to spare", 6, 8, 6, trace::StepOutcome::TokenLimit);
    row("just room enough", 8, 8, 8, trace::StepOutcome::TokenLimit);
    row("one too few", 9, 8, 8, trace::StepOutcome::ContextLimit);
    row("many too few", 4000, 8, 8, trace::StepOutcome::ContextLimit);
    row("room for one", 2, 1, 1, trace::StepOutcome::ContextLimit);
    row("no limit of its own", 0, 8, 8, trace::StepOutcome::ContextLimit);
  }
  void theEndOfTheContextIsNoTokenLimit() {
    QFETCH(int, maxTokens);
    QFETCH(int, room);
    const auto emailOf = [](int tokens) {
      return planOf(
          R"({"g":{"model":"m","temperature":0.0,"max_tokens":)" + std::to_string(tokens) +
          R"(,"input":{"cross":[{"system":"You write an introductory email for a job application."},)"
          R"({"user":"My name is Shiloh. I am a data scientist."}]}}})");
    };
    SpanletSession large;
    const std::int64_t prompt = large.session->run(emailOf(1), {}).steps.at(0).metrics.promptTokens;
    SpanletSession small({}, 2, true, static_cast<std::int32_t>(prompt) + room);
    const RunResult result = small.session->run(emailOf(maxTokens), {});
    QCOMPARE(result.outcome, trace::RunOutcome::Finished);
    QTEST(static_cast<int>(result.steps.at(0).tokens.size()), "generated");
    QTEST(static_cast<int>(result.steps.at(0).outcome), "outcome");
    QCOMPARE(small.sink.all<trace::StepFinished>().at(0).outcome, result.steps.at(0).outcome);
  }

  void requestsWaitForRoomInASmallPool() {
    run::SessionConfig config;
    config.blockCount = 22;  // too few for all four at a time
    SpanletSession spanlet(config);
    plan::PlanOptions options;
    options.distribute = false;
    const auto plan = planOf(judge(4, 0.9F, 60), options);
    const RunResult result = spanlet.session->run(plan, {});
    QVERIFY2(result.outcome == trace::RunOutcome::Finished,
             result.error ? result.error->message().c_str() : "");
    QVERIFY(!spanlet.sink.all<trace::RequestDeferred>().empty());
    SpanletSession roomy;
    const RunResult expected = roomy.session->run(plan, {});
    for (std::size_t i = 0; i < expected.steps.size(); ++i) {
      QCOMPARE(result.steps[i].tokens, expected.steps[i].tokens);
    }
  }

  void copiesOfOnePromptComputeItOnce() {
    SpanletSession spanlet;
    const RunResult result = spanlet.session->run(
        planOf(R"({"plus":[{"repeat":{"n":3,"g":{"model":"m","max_tokens":12,"temperature":0.9,"input":)"
               R"({"cross":[{"system":"You write an introductory email for a job application."},)"
               R"({"user":"My name is Shiloh. I am a data scientist."}]}}}}]})"),
        {});
    QCOMPARE(result.steps.size(), std::size_t{3});
    QCOMPARE(result.steps[0].metrics.cachedTokens, 0);
    QCOMPARE(result.steps[1].metrics.computedTokens, 1);
    QCOMPARE(result.steps[2].metrics.computedTokens, 1);
    QVERIFY(result.steps[0].tokens != result.steps[1].tokens ||
            result.steps[1].tokens != result.steps[2].tokens);
  }

  void spansOnACheckpointNotTrainedForThemWarns_data() {
    QTest::addColumn<const Policy*>("policy");
    QTest::addColumn<bool>("trained");
    QTest::addColumn<int>("warnings");
    QTest::newRow("spans, trained") << &kSpans << true << 0;
    QTest::newRow("spans, not trained") << &kSpans << false << 1;
    QTest::newRow("prefix, not trained") << &kPrefix << false << 0;
  }
  void spansOnACheckpointNotTrainedForThemWarns() {
    QFETCH(const Policy*, policy);
    QFETCH(bool, trained);
    SpanletSession spanlet({}, 2, trained);
    spanlet.session->run(planOf(rag({kMira}, "Where does Mira live?")), withPolicy(*policy));
    int warnings = 0;
    for (const auto& message : spanlet.sink.all<trace::MessageLogged>()) {
      if (message.severity == Severity::Warning) ++warnings;
    }
    QTEST(warnings, "warnings");
  }

  void replayOfARunGivesTheEnginesPool() {
    SpanletSession spanlet;
    spanlet.session->run(planOf(judge(3, 0.9F)), {});
    spanlet.session->run(planOf(rag({kMira, kTarek}, "Where does Mira live?")), {});
    trace::Replay replay;
    for (const auto& event : spanlet.sink.events) {
      const auto error = replay.apply(event);
      QVERIFY2(!error, error ? error->message().c_str() : "");
    }
    QCOMPARE(replay.pool().state(), spanlet.session->dumpPool());
    QCOMPARE(replay.progress().runs.at(2).answer, std::string("Mira lives in Lisbon."));
  }
};

SPANSCOPE_TEST(tst_session_run, TestSessionRun, QCoreApplication)
#include "tst_session_run.moc"
