// SPDX-License-Identifier: GPL-3.0-or-later
// The policy blend: what it computes, worked out in double precision row by row; that it writes nothing that
// others can find; and that with all tokens it is a full prefill.
#include "engine/base/error.h"
#include "engine/policy/blend/blend.h"
#include "engine/policy/recomputation.h"
#include "engine/run/prediction.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "tests/engine/policy/policy_fixture.h"
#include "tests/engine/run/random_tables.h"
#include "tests/support/test_program.h"
#include "tests/support/tested_device.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using namespace spanscope::test;
using layout::SpanTable;
using policy::Recomputation;

namespace {

constexpr int kLayers = 4;

model::ModelConfig shape() {
  model::ModelConfig config = test::tinyConfig();
  config.layers = kLayers;
  return config;
}

double squareDistance(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// As CacheBlend is defined: everything by block attention; then layer by layer in full view, up to the check
/// layer everything from the first document on, from there on the rows that deviate most and the last
/// segment.
Numbers reference(const PlainTransformer& plain, const SpanTable& table, const PromptRows& rows,
                  const Recomputation& blending) {
  const PlainTransformer::Forward spans = plain.forward(rows.tokens, rows.positions, rows.sees);
  const std::size_t firstDocument = static_cast<std::size_t>(
      std::find(rows.isOuter.begin(), rows.isOuter.end(), false) - rows.isOuter.begin());
  const auto firstLast = rows.count() - static_cast<std::size_t>(table.segments.back().length());
  std::vector<Numbers> hidden;
  for (const TokenId token : rows.tokens) hidden.push_back(plain.embed(token));
  std::vector<std::size_t> left(rows.count() - std::min(firstDocument, firstLast));
  std::iota(left.begin(), left.end(), std::min(firstDocument, firstLast));
  const auto context = static_cast<double>(firstLast - std::min(firstDocument, firstLast));
  for (std::int32_t layer = 0; layer < plain.layers(); ++layer) {
    const std::vector<KeyValue>& stored = spans.keyValues[static_cast<std::size_t>(layer)];
    std::vector<KeyValue> own = stored;
    for (const std::size_t row : left) own[row] = plain.keyValue(layer, hidden[row], rows.positions[row]);
    const std::int32_t step = layer - blending.layer + 1;
    if (step >= 1 && step <= blending.steps) {
      const auto scoreOf = [&](std::size_t row) {
        return blending.by == compute::StoredPart::Keys ? squareDistance(own[row].key, stored[row].key)
                                                        : squareDistance(own[row].value, stored[row].value);
      };
      const auto kept = static_cast<std::size_t>(
          std::floor(std::pow(blending.share, static_cast<double>(step) / blending.steps) * context));
      const auto last = std::find(left.begin(), left.end(), firstLast);
      std::vector<std::size_t> chosen(left.begin(), last);
      std::stable_sort(chosen.begin(), chosen.end(),
                       [&](std::size_t a, std::size_t b) { return scoreOf(a) > scoreOf(b); });
      for (std::size_t i = kept; i < chosen.size(); ++i) own[chosen[i]] = stored[chosen[i]];
      chosen.resize(std::min(kept, chosen.size()));
      std::sort(chosen.begin(), chosen.end());
      chosen.insert(chosen.end(), last, left.end());
      left = chosen;
    }
    std::vector<Numbers> next = hidden;
    for (const std::size_t row : left) {
      std::vector<const KeyValue*> seen;
      for (std::size_t before = 0; before <= row; ++before) seen.push_back(&own[before]);
      next[row] = plain.next(layer, hidden[row], rows.positions[row], seen);
    }
    hidden = std::move(next);
  }
  return plain.logits(hidden.back());
}

/// An answer to a prompt of documents is after a document in another prompt, and the answer of that prompt in
/// a third. The answers are inserted as they were computed.
plan::Plan nestedPlan() {
  const auto generate = [](const std::string& documents, const std::string& answers) {
    return R"({"g":{"model":"m","max_tokens":12,"temperature":0.0,"input":{"cross":[{"plus":[)" + documents +
           "]}," + answers + R"({"user":"Where does Mira live?"}]}}})";
  };
  const std::string inner =
      generate(R"({"user":"Mira lives in Lisbon. Mira plays the cello."},{"user":"Tarek is a baker."})", "");
  const std::string middle = generate(R"({"user":"Nils owns a clock."})", inner + ",");
  const auto parsed =
      query::parseJson(generate(R"({"user":"The soup was cold."})", middle + "," + inner + ","));
  return *plan::makePlan(*parsed.query, {.outputForm = plan::OutputForm::Reused}).plan;
}

run::RunOptions under(const QString& policy) {
  run::RunOptions options;
  options.policy = *policy::findChoice(policy.toStdString());
  return options;
}

std::vector<std::vector<TokenId>> answersOf(SpanletSession& spanlet, const plan::Plan& plan,
                                            const QString& policy) {
  std::vector<std::vector<TokenId>> answers;
  const run::RunResult result = spanlet.session->run(plan, under(policy));
  if (result.error) qWarning("%s", result.error->message().c_str());
  for (const run::StepResult& step : result.steps) answers.push_back(step.tokens);
  return answers;
}

}  // namespace

class TestBlend : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_seed = test::policyTestSeed(20250627); }

  void isAsDefined_data() {
    QTest::addColumn<QString>("policy");
    for (const char* policy :
         {"blend(0)", "blend(0.15)", "blend(0.5)", "blend(1)", "blend(0.4,layer=0)", "blend(0.4,layer=2)",
          "blend(0.4,layer=3)", "blend(0.3,by=values)", "blend(0.2,steps=2)", "blend(0.2,by=values,steps=3)"})
      QTest::newRow(policy) << policy;
  }
  void isAsDefined() {
    SKIP_UNLESS_IN_F32();
    QFETCH(QString, policy);
    const Recomputation blending = recomputationOf(policy);
    TinySession tiny(2, poolOf(600, 13), shape());
    const PlainTransformer plain(shape(), *tiny.weights);
    RandomTables tables(m_seed, shape().vocabularySize, 11);
    double farthest = 0;
    for (int i = 0; i < 10; ++i) {
      const SpanTable spans = tables.next(1 + i % 3);
      const PromptRows rows(spans);
      const SpanTable blended = policy::blendedTable(spans);
      QCOMPARE(blended.tokenCount(), spans.tokenCount());
      const std::vector<float> found = tiny.session->logits(laidOut(policy, blended)).logits.front();
      const double error = relative(found, reference(plain, spans, rows, blending));
      QVERIFY2(error < kClose, qPrintable(QString("prompt %1 is off by %2").arg(i).arg(error)));
      farthest = std::max(farthest, relative(found, causalReference(plain, rows)));
    }
    if (blending.share == 1) {
      QVERIFY2(farthest < kClose, qPrintable(QString::number(farthest)));
    } else {
      QVERIFY2(farthest > 100 * kClose, qPrintable(QString::number(farthest)));
    }
  }

  void tellsWhatWasComputedAgain() {
    TinySession tiny(2, poolOf(600, 13), shape());
    RandomTables tables(m_seed + 1, shape().vocabularySize, 11);
    SpanTable blended = policy::blendedTable(tables.next(2));
    while (!hasCopies(blended)) blended = policy::blendedTable(tables.next(2));
    const auto copies = policy::copiesIn(blended);
    std::int64_t repeating = 0;
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (copies[i]) repeating += blended.segments[i].length();
    }
    tiny.session->logits(laidOut("blend(0.5)", blended));
    const auto events = tiny.sink.all<trace::TokensRecomputed>();
    QCOMPARE(events.size(), std::size_t{1});
    QCOMPARE(events[0].layer, 1);
    QCOMPARE(events[0].tokens, repeating);
    std::int64_t reported = 0;
    for (const trace::RecomputedTokens& segment : events[0].segments) {
      QVERIFY(copies[segment.segment].has_value());
      QVERIFY(std::is_sorted(segment.tokens.begin(), segment.tokens.end()));
      QVERIFY(segment.tokens.back() < blended.segments[segment.segment].length());
      reported += static_cast<std::int64_t>(segment.tokens.size());
    }
    QCOMPARE(reported, repeating / 2);
  }

  void sharedBlocksStayAsTheyAre() {
    TinySession warm(1, poolOf(400, 37), shape());
    TinySession cold(1, poolOf(400, 512), shape());
    std::int64_t cached = 0;
    for (int i = 0; i < 300; ++i) {
      RandomTables tables(m_seed + static_cast<std::uint64_t>(i % 20), shape().vocabularySize, 7);
      SpanTable spans;
      for (int skipped = 0; skipped <= i % 5; ++skipped) spans = tables.next(1 + i % 3);
      const run::LogitsRequest blended =
          laidOut(i % 2 == 0 ? "blend(0.3)" : "blend(1)", policy::blendedTable(spans));
      for (const run::LogitsRequest& request : {blended, run::LogitsRequest{.table = spans}}) {
        cold.session->clearCache();
        const auto expected = cold.session->logits(request);
        const auto found = warm.session->logits(request);
        QVERIFY2(equalBits(found.logits.front(), expected.logits.front()),
                 qPrintable(QString("prompt %1, %2 tokens cached").arg(i).arg(found.cachedTokens)));
        cached += found.cachedTokens;
      }
    }
    QVERIFY2(cached > 2000, qPrintable(QString("only %1 tokens were reused").arg(cached)));
  }

  void nothingOfItIsFoundLater() {
    TinySession tiny(1, poolOf(400, 512), shape());
    RandomTables tables(m_seed + 2, shape().vocabularySize, 11);
    SpanTable blended = policy::blendedTable(tables.next(2));
    while (!hasCopies(blended)) blended = policy::blendedTable(tables.next(2));
    const auto first = tiny.session->logits(laidOut("blend(0.5)", blended));
    const auto second = tiny.session->logits(laidOut("blend(0.5)", blended));
    QVERIFY(equalBits(first.logits.front(), second.logits.front()));
    // The hits are exactly the tokens before the last segment, once.
    QCOMPARE(second.cachedTokens, blended.tokenCount() - blended.segments.back().length());
    for (const trace::BlockState& block : tiny.session->dumpPool().blocks) QCOMPARE(block.references, 0);
  }

  void aLayerThatIsNotThereIsRefused() {
    TinySession tiny(1, poolOf(400, 512), shape());
    RandomTables tables(m_seed + 3, shape().vocabularySize, 11);
    SpanTable spans = tables.next(1);
    while (policy::blendedTable(spans).segments.size() == spans.segments.size()) spans = tables.next(1);
    for (const char* policy : {"blend(0.5,layer=4)", "blend(0.5,layer=3,steps=2)"}) {
      const run::LogitsRequest blended = laidOut(policy, policy::blendedTable(spans));
      QVERIFY_EXCEPTION_THROWN(tiny.session->logits(blended), Failure);
    }
    tiny.session->logits({.table = spans});
  }

  void allTokensGiveTheTextOfAFullPrefill_data() {
    QTest::addColumn<QString>("query");
    for (const char* query : {"rag.json", "rag-swapped.json", "judge-4.json"}) QTest::newRow(query) << query;
  }
  void allTokensGiveTheTextOfAFullPrefill() {
    QFETCH(QString, query);
    const plan::Plan plan = bundledPlan(query);
    SpanletSession spanlet;
    const auto expected = answersOf(spanlet, plan, "prefix");
    QVERIFY(!expected.empty() && !expected.front().empty());
    QCOMPARE(answersOf(spanlet, plan, "link(all)"), expected);
    QCOMPARE(answersOf(spanlet, plan, "blend(1)"), expected);
  }

  /// An answer to a blended prompt is a document of the prompt that contains it.
  void answersStandInOtherPrompts_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<QString>("same");
    QTest::newRow("all tokens") << "blend(1)"
                                << "prefix";
    QTest::newRow("no tokens") << "blend(0)"
                               << "spans";
    QTest::newRow("a share") << "blend(0.3)"
                             << "";
    QTest::newRow("by values, in steps") << "blend(0.5,by=values,steps=2)"
                                         << "";
  }
  void answersStandInOtherPrompts() {
    QFETCH(QString, policy);
    QFETCH(QString, same);
    const plan::Plan plan = nestedPlan();
    SpanletSession spanlet;
    const run::Prediction prediction = spanlet.session->predictor()->predict(plan, under(policy));
    QVERIFY2(!prediction.error, prediction.error ? prediction.error->message().c_str() : "");
    const auto answers = answersOf(spanlet, plan, policy);
    QCOMPARE(answers.size(), plan.steps.size());
    // Once more with the cache hits, and with everything recomputed in small passes.
    QCOMPARE(answersOf(spanlet, plan, policy), answers);
    run::SessionConfig small;
    small.rowsPerPass = 7;
    SpanletSession other(small);
    QCOMPARE(answersOf(other, plan, policy), answers);
    if (!same.isEmpty()) QCOMPARE(answers, answersOf(spanlet, plan, same));
    for (const trace::BlockState& block : spanlet.session->dumpPool().blocks) QCOMPARE(block.references, 0);
  }

  /// The trace of such a prompt is enough to replay its answer through the model.
  void tracesTellWhatAnswersStandIn() {
    const plan::Plan plan = nestedPlan();
    SpanletSession spanlet;
    const auto answers = answersOf(spanlet, plan, "blend(0.3)");
    QCOMPARE(answers.size(), plan.steps.size());
    std::map<RequestId, run::FinishedAnswer> traced;
    for (const trace::Event& event : spanlet.sink.events) {
      if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload))
        traced[event.request].segments = table->segments;
      if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload))
        traced[event.request].tokens.push_back(token->token);
    }
    QCOMPARE(traced.size(), plan.steps.size());
    for (auto& [request, answer] : traced) {
      answer.policy = *policy::findChoice("blend(0.3)");
      const run::ReplayedAnswer replayed = spanlet.session->replayAnswer(answer, 0);
      QCOMPARE(replayed.logits.size(), answer.tokens.size());
      for (std::size_t row = 0; row < answer.tokens.size(); ++row) {
        const std::vector<float>& logits = replayed.logits[row];
        const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
        QCOMPARE(static_cast<TokenId>(best), answer.tokens[row]);
      }
    }
  }

  void withoutCopiesATableIsWhatItWasMadeOf() {
    RandomTables tables(m_seed + 5, shape().vocabularySize, 11);
    int blended = 0;
    for (int i = 0; i < 60; ++i) {
      const SpanTable spans = tables.next(i % 4);
      const SpanTable table = policy::blendedTable(spans);
      blended += hasCopies(table) ? 1 : 0;
      QVERIFY(policy::withoutCopies(table) == spans);
    }
    QVERIFY(blended > 20);
  }

  void whoGivesWayGoesOnAsItWas() {
    std::int64_t preemptions = 0;
    for (std::uint32_t round = 0; round < 12; ++round) {
      const auto seed = static_cast<std::uint32_t>(m_seed) + round;
      const auto expected = randomAnswers("blend(0.3)", seed, 2000, preemptions);
      QVERIFY(!expected.empty());
      for (const std::int32_t blocks : {70, 90, 120}) {
        const auto found = randomAnswers("blend(0.3)", seed, blocks, preemptions);
        if (!found.empty()) QCOMPARE(found, expected);
      }
    }
    QVERIFY2(preemptions > 0, "nobody gave way");
  }

  /// A row that is computed for the first time is reported, also together with recomputed rows.
  void tellsOfEachTokenThoughItGaveWay() {
    const auto massesOf = [](int every, std::int64_t& preemptions) {
      test::RandomSession random(poolOf(400, 512), false);
      run::RunOptions options;
      options.policy = *policy::findChoice("blend(0.25)");
      options.observedLayers = {0};
      int passes = 0;
      options.emptyCache = [&passes, every] { return every > 0 && ++passes % every == 0 && passes < 40; };
      const auto parsed = query::parseJson(R"({"g":{"model":"m","max_tokens":6,"input":{"seq":[
          {"plus":[{"user":"Mira lives in Lisbon."},{"user":"Biscuit is a pet."}]},{"user":"Who?"}]}}})");
      const run::RunResult result = random.session->run(*plan::makePlan(*parsed.query).plan, options);
      for (const run::StepResult& step : result.steps) preemptions += step.metrics.preemptions;
      std::map<std::int32_t, std::vector<float>> masses;
      for (const trace::TokenGenerated& token : random.sink.all<trace::TokenGenerated>())
        masses[token.index] = token.segmentMass;
      return masses;
    };
    std::int64_t preemptions = 0;
    const auto expected = massesOf(0, preemptions);
    QCOMPARE(preemptions, 0);
    QCOMPARE(static_cast<int>(expected.size()), 6);
    QVERIFY(!expected.begin()->second.empty());
    for (const int every : {2, 3, 5}) {
      QVERIFY(massesOf(every, preemptions) == expected);
      QVERIFY(preemptions > 0);
    }
  }

  /// A trace has segments, not the compute plan: the plan is rebuilt from them.
  void copiesAreTheSegmentsThatStandTwice() {
    RandomTables tables(m_seed + 4, shape().vocabularySize, 11);
    for (int i = 0; i < 20; ++i) {
      const SpanTable spans = tables.next(1 + i % 3);
      const SpanTable blended = policy::blendedTable(spans);
      const auto copies = policy::copiesIn(blended);
      std::size_t count = 0;
      for (std::size_t s = 0; s < copies.size(); ++s) {
        if (!copies[s]) continue;
        ++count;
        QVERIFY(blended.segments[*copies[s]].hidden);
        QVERIFY(blended.segments[*copies[s]].tokens == blended.segments[s].tokens);
        QCOMPARE(blended.segments[*copies[s]].base, blended.segments[s].base);
      }
      QCOMPARE(count, blended.segments.size() - spans.segments.size());
      const policy::ComputePlan plan = laidOut("blend(0.5)", blended).rows;
      QCOMPARE(plan.isJoint(blended.segments.size() - 1), count > 0);
    }
  }

 private:
  static bool hasCopies(const SpanTable& table) {
    return policy::withoutCopies(table).segments.size() != table.segments.size();
  }

  /// A prompt that the policy laid out.
  static run::LogitsRequest laidOut(const QString& policy, const SpanTable& table) {
    return {.table = table, .rows = policy::findChoice(policy.toStdString())->planRows(table, false)};
  }

  static Recomputation recomputationOf(const QString& text) {
    return policy::recomputationOf(policy::findChoice(text.toStdString())->values());
  }

  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_blend, TestBlend)
#include "tst_blend.moc"
