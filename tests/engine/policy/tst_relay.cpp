// SPDX-License-Identifier: GPL-3.0-or-later
// The policy relay: what it computes, worked out in double precision row by row; that it is what it claims to
// be at both ends of its parameter; and that it writes nothing that others can find.
#include "engine/policy/recomputation.h"
#include "engine/policy/relay/relay.h"
#include "engine/run/prediction.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/trace_values.h"
#include "tests/engine/policy/policy_fixture.h"
#include "tests/support/test_program.h"
#include "tests/support/tested_device.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <optional>

using namespace spanscope;
using namespace spanscope::testing;
using namespace spanscope::test;
using layout::SpanTable;
using plan::OutputForm;

namespace {

std::string generate(const std::string& input, int tokens = 12) {
  return R"({"g":{"model":"m","max_tokens":)" + std::to_string(tokens) + R"(,"temperature":0.0,"input":)" +
         input + "}}";
}

/// Answers are quoted after a document, among the children of a plus, twice, after each other, and in a
/// prompt whose own answer is quoted.
plan::Plan quotingPlan(OutputForm form = OutputForm::Recomputed) {
  const std::string inner = generate(
      R"({"cross":[{"plus":[{"user":"Mira lives in Lisbon. Mira plays the cello."},{"user":"Tarek is a baker."}]},)"
      R"({"user":"Where does Mira live?"}]})");
  const std::string other = generate(R"({"user":"Who is a baker?"})");
  const std::string middle = generate(R"({"cross":[{"user":"Nils owns a clock."},)" + inner + "," + other +
                                      R"(,{"user":"Where does Mira live?"}]})");
  const std::string outer = generate(R"({"cross":[{"system":"You answer."},{"user":"The soup was cold."},)" +
                                     middle + R"(,{"plus":[{"seq":[{"user":"Otto has a dog."},)" + other +
                                     "]}," + inner + R"(]},{"user":"Where does Mira live?"}]})");
  return *plan::makePlan(*query::parseJson(outer).query, {.outputForm = form}).plan;
}

run::RunOptions under(const std::string& policy) {
  run::RunOptions options;
  options.policy = *policy::findChoice(policy);
  return options;
}

struct Answers {
  std::vector<std::vector<TokenId>> tokens;
  std::vector<std::int64_t> cached;
  bool operator==(const Answers&) const = default;
};

template <class Session>
Answers answersOf(Session& session, const plan::Plan& plan, const std::string& policy) {
  Answers answers;
  const run::RunResult result = session.session->run(plan, under(policy));
  if (result.error) qWarning("%s", result.error->message().c_str());
  for (const run::StepResult& step : result.steps) {
    answers.tokens.push_back(step.tokens);
    answers.cached.push_back(step.metrics.cachedTokens);
  }
  return answers;
}

/// The span tables that were laid out, by request, from the trace.
template <class Session>
std::map<RequestId, SpanTable> tablesOf(const Session& session, std::int32_t vocabulary) {
  std::map<RequestId, SpanTable> tables;
  for (const trace::Event& event : session.sink.events) {
    if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload))
      tables[event.request] = run::spanTableOf(table->segments, vocabulary);
  }
  return tables;
}

double squareDistance(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// All tokens of a table's segments, and what each sees: the visible tokens of the segments that its own
/// sees, then its own segment up to itself; of a copy, whose hidden tokens are of another prompt, its visible
/// tokens.
struct Rows {
  std::vector<TokenId> tokens;
  std::vector<std::int64_t> positions;
  std::vector<std::vector<std::size_t>> sees;
  std::vector<std::size_t> segment;
  std::vector<std::optional<std::size_t>> original;  ///< of a copy's row

  explicit Rows(const SpanTable& table) {
    const auto copies = policy::copiesIn(table);
    std::vector<std::size_t> begins;
    for (std::size_t s = 0; s < table.segments.size(); ++s) {
      const layout::Segment& own = table.segments[s];
      begins.push_back(tokens.size());
      std::vector<std::size_t> before;
      for (const std::uint32_t seen : own.sees) {
        for (std::int32_t j = table.segments[seen].visibleBegin; j < table.segments[seen].length(); ++j)
          before.push_back(begins[seen] + static_cast<std::size_t>(j));
      }
      for (std::int32_t j = 0; j < own.length(); ++j) {
        if (!copies[s] || j >= own.visibleBegin) before.push_back(tokens.size());
        tokens.push_back(own.tokens[static_cast<std::size_t>(j)]);
        positions.push_back(own.base + j);
        sees.push_back(before);
        segment.push_back(s);
        original.push_back(copies[s] ? std::optional(begins[*copies[s]] + static_cast<std::size_t>(j))
                                     : std::nullopt);
      }
    }
  }
};

/// As relay is defined: everything that sees no copy by block attention; then the copies and what sees them,
/// layer by layer, of each copy in each filtering layer the rows that deviate most.
Numbers reference(const PlainTransformer& plain, const SpanTable& table, const policy::ComputePlan& plan,
                  const policy::Recomputation& recomputation) {
  const Rows rows(table);
  const PlainTransformer::Forward alone = plain.forward(rows.tokens, rows.positions, rows.sees);
  if (plan.segments.empty()) return plain.logits(alone.hidden.back());
  std::vector<Numbers> hidden;
  for (const TokenId token : rows.tokens) hidden.push_back(plain.embed(token));
  std::vector<std::size_t> left;  // joint rows that go on
  for (std::size_t row = 0; row < rows.tokens.size(); ++row) {
    const layout::Segment& own = table.segments[rows.segment[row]];
    const auto local = static_cast<std::int64_t>(rows.positions[row] - own.base);
    if (plan.isJoint(rows.segment[row]) && local >= own.visibleBegin) left.push_back(row);
  }
  for (std::int32_t layer = 0; layer < plain.layers(); ++layer) {
    const std::vector<KeyValue>& stored = alone.keyValues[static_cast<std::size_t>(layer)];
    std::vector<KeyValue> own = stored;
    for (std::size_t row = 0; row < own.size(); ++row) {
      if (rows.original[row]) own[row] = stored[*rows.original[row]];
    }
    const std::vector<KeyValue> before = own;
    for (const std::size_t row : left) own[row] = plain.keyValue(layer, hidden[row], rows.positions[row]);
    const std::int32_t step = layer - recomputation.layer + 1;
    if (step >= 1 && step <= recomputation.steps) {
      const auto scoreOf = [&](std::size_t row) {
        return recomputation.by == compute::StoredPart::Keys
                   ? squareDistance(own[row].key, before[row].key)
                   : squareDistance(own[row].value, before[row].value);
      };
      std::vector<std::size_t> next;
      for (std::size_t s = 0; s < table.segments.size(); ++s) {
        std::vector<std::size_t> of;
        std::copy_if(left.begin(), left.end(), std::back_inserter(of),
                     [&](std::size_t row) { return rows.segment[row] == s; });
        if (plan.copyOf(s)) {
          const double all = table.segments[s].length() - table.segments[s].visibleBegin;
          const auto kept = static_cast<std::size_t>(std::floor(
              std::pow(recomputation.share, static_cast<double>(step) / recomputation.steps) * all));
          std::stable_sort(of.begin(), of.end(),
                           [&](std::size_t a, std::size_t b) { return scoreOf(a) > scoreOf(b); });
          for (std::size_t i = kept; i < of.size(); ++i) own[of[i]] = before[of[i]];
          of.resize(std::min(kept, of.size()));
          std::sort(of.begin(), of.end());
        }
        next.insert(next.end(), of.begin(), of.end());
      }
      left = next;
    }
    std::vector<Numbers> next = hidden;
    for (const std::size_t row : left) {
      std::vector<const KeyValue*> seen;
      for (const std::size_t other : rows.sees[row]) seen.push_back(&own[other]);
      next[row] = plain.next(layer, hidden[row], rows.positions[row], seen);
    }
    hidden = std::move(next);
  }
  return plain.logits(hidden.back());
}

}  // namespace

class TestRelay : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { m_seed = test::policyTestSeed(20261124); }

  void isAsDefined_data() {
    QTest::addColumn<QString>("policy");
    for (const char* policy : {"relay(0)", "relay(0.15)", "relay(0.5)", "relay(1)", "relay(0.4,layer=0)",
                               "relay(0.4,by=values)", "relay(0.3,layer=0,steps=2)"})
      QTest::newRow(policy) << policy;
  }
  void isAsDefined() {
    SKIP_UNLESS_IN_F32();
    QFETCH(QString, policy);
    const policy::Choice choice = *policy::findChoice(policy.toStdString());
    RandomSession random(poolOf(2000, 512), false);
    const PlainTransformer plain(random.shape, *random.weights);
    const Answers answers = answersOf(random, quotingPlan(), policy.toStdString());
    QVERIFY(!answers.tokens.empty());
    policy::Recomputation whole = policy::recomputationOf(choice.values());
    whole.share = 1;
    double farthest = 0;
    int copied = 0;
    for (const auto& [request, table] : tablesOf(random, random.shape.vocabularySize)) {
      const policy::ComputePlan rows = choice.planRows(table, false);
      copied += rows.segments.empty() ? 0 : 1;
      const auto found = random.session->logits({.table = table, .rows = rows}).logits.front();
      const Numbers expected = reference(plain, table, rows, policy::recomputationOf(choice.values()));
      const double error = relative(found, expected);
      QVERIFY2(error < kClose, qPrintable(QString("request %1 is off by %2").arg(request).arg(error)));
      farthest = std::max(farthest, relative(found, reference(plain, table, rows, whole)));
    }
    QCOMPARE(copied > 0, choice.values()[0] > 0);
    // What is left out is seen, or this would show nothing.
    const bool leavesOut = choice.values()[0] > 0 && choice.values()[0] < 1;
    QCOMPARE(farthest > 100 * kClose, leavesOut);
  }

  /// Nothing is computed again: what is quoted is found, and what is answered is the same.
  void withoutAShareItIsTheReusedOutput() {
    SpanletSession relayed;
    SpanletSession reused;
    const Answers expected = answersOf(reused, quotingPlan(OutputForm::Reused), "spans");
    QVERIFY(expected.tokens.size() > 3 && !expected.tokens.front().empty());
    QVERIFY(answersOf(relayed, quotingPlan(), "relay(0)") == expected);
    QVERIFY(relayed.sink.all<trace::TokensRecomputed>().empty());
    SpanletSession both;
    QVERIFY(answersOf(both, quotingPlan(OutputForm::Reused), "relay(0)") == expected);
  }

  /// Everything is recomputed in the outer view: answers and numbers equal those of recomputed outputs.
  void wholeItIsTheOutputComputedAnew() {
    SpanletSession spanlet;
    const Answers expected = answersOf(spanlet, quotingPlan(), "spans");
    QCOMPARE(answersOf(spanlet, quotingPlan(), "relay(1)").tokens, expected.tokens);

    RandomSession relayed(poolOf(2000, 512), false);
    RandomSession recomputed(poolOf(2000, 512), false);
    QCOMPARE(answersOf(relayed, quotingPlan(), "relay(1)").tokens,
             answersOf(recomputed, quotingPlan(), "spans").tokens);
    const policy::Choice choice = *policy::findChoice("relay(1)");
    const auto tables = tablesOf(relayed, relayed.shape.vocabularySize);
    const auto others = tablesOf(recomputed, recomputed.shape.vocabularySize);
    QCOMPARE(tables.size(), others.size());
    int copied = 0;
    for (const auto& [request, table] : tables) {
      const policy::ComputePlan rows = choice.planRows(table, false);
      copied += rows.segments.empty() ? 0 : 1;
      const auto found = relayed.session->logits({.table = table, .rows = rows}).logits.front();
      const auto wanted = recomputed.session->logits({.table = others.at(request)}).logits.front();
      QVERIFY(relative(found, Numbers(wanted.begin(), wanted.end())) < kClose);
    }
    QVERIFY2(copied >= 2, "replies are quoted in two prompts");
  }

  /// The copy attends to the same tokens as recomputed tokens at the same place.
  void copiesSeeTheOuterPrompt() {
    SpanletSession spanlet;
    answersOf(spanlet, quotingPlan(), "relay(0.5)");
    const auto tables = tablesOf(spanlet, spanlet.config.vocabularySize);
    for (const auto& [request, table] : tables) {
      const auto copies = policy::copiesIn(table);
      for (std::size_t i = 0; i < table.segments.size(); ++i) {
        const layout::Segment& segment = table.segments[i];
        for (const std::uint32_t other : segment.sees)
          QVERIFY(segment.hidden || !table.segments[other].hidden);
        QVERIFY(!copies[i] || *copies[i] + 1 == i);
        QVERIFY(segment.hidden || segment.visibleBegin == 0 || copies[i]);
      }
    }
  }

  void tellsTheShareOfEachAnswer() {
    SpanletSession spanlet;
    answersOf(spanlet, quotingPlan(), "relay(0.4)");
    const auto tables = tablesOf(spanlet, spanlet.config.vocabularySize);
    int reported = 0;
    for (const trace::Event& event : spanlet.sink.events) {
      const auto* recomputed = std::get_if<trace::TokensRecomputed>(&event.payload);
      if (recomputed == nullptr) continue;
      ++reported;
      const SpanTable& table = tables.at(event.request);
      const auto copies = policy::copiesIn(table);
      std::int64_t all = 0;
      std::map<std::uint32_t, std::size_t> kept;
      for (const trace::RecomputedTokens& segment : recomputed->segments)
        kept[segment.segment] = segment.tokens.size();
      for (std::uint32_t i = 0; i < copies.size(); ++i) {
        if (!copies[i]) continue;
        const double rows = table.segments[i].length() - table.segments[i].visibleBegin;
        all += static_cast<std::int64_t>(rows);
        QCOMPARE(kept[i], static_cast<std::size_t>(std::floor(0.4 * rows)));
      }
      QCOMPARE(recomputed->tokens, all);
      QCOMPARE(recomputed->layer, 1);
    }
    QCOMPARE(reported, 2);
  }

  /// Once more with what was found, with everything computed in small passes, and after giving way.
  void answersDoNotDependOnPassesOrCache() {
    const plan::Plan plan = quotingPlan();
    SpanletSession spanlet;
    const run::Prediction prediction = spanlet.session->predictor()->predict(plan, under("relay(0.3)"));
    QVERIFY2(!prediction.error, prediction.error ? prediction.error->message().c_str() : "");
    const auto expected = answersOf(spanlet, plan, "relay(0.3)").tokens;
    QCOMPARE(expected.size(), plan.steps.size());
    QCOMPARE(answersOf(spanlet, plan, "relay(0.3)").tokens, expected);
    run::SessionConfig small;
    small.rowsPerPass = 7;
    SpanletSession other(small);
    QCOMPARE(answersOf(other, plan, "relay(0.3)").tokens, expected);
    run::RunOptions cleared = under("relay(0.3)");
    int passes = 0;
    cleared.emptyCache = [&passes] { return ++passes % 3 == 0 && passes < 60; };
    SpanletSession emptied;
    const run::RunResult result = emptied.session->run(plan, cleared);
    std::vector<std::vector<TokenId>> tokens;
    for (const run::StepResult& step : result.steps) tokens.push_back(step.tokens);
    QCOMPARE(tokens, expected);
    for (const trace::BlockState& block : spanlet.session->dumpPool().blocks) QCOMPARE(block.references, 0);
  }

  /// The stored blocks are those of block attention: a later run under spans finds nothing else, and answers
  /// the same.
  void othersFindNothingOfIt() {
    SpanletSession mixed;
    SpanletSession plain;
    const Answers cold = answersOf(plain, quotingPlan(OutputForm::Reused), "spans");
    const Answers warm = answersOf(plain, quotingPlan(OutputForm::Reused), "spans");
    answersOf(mixed, quotingPlan(), "relay(0.5)");
    const Answers behind = answersOf(mixed, quotingPlan(OutputForm::Reused), "spans");
    QCOMPARE(behind.tokens, cold.tokens);
    for (std::size_t i = 0; i < warm.cached.size(); ++i) QVERIFY(behind.cached[i] <= warm.cached[i]);
  }

  void whoGivesWayGoesOnAsItWas() {
    std::int64_t preemptions = 0;
    int compared = 0;
    for (std::uint32_t round = 0; round < 12; ++round) {
      const auto answers = [&](std::int32_t blocks) {
        test::RandomQueries queries(static_cast<std::uint32_t>(m_seed) + round, 24);
        const plan::Plan plan = *plan::makePlan(*query::parseJson(queries.deep()).query).plan;
        RandomSession random(poolOf(blocks, 512, 8), false);
        const run::RunResult result = random.session->run(plan, under("relay(0.3)"));
        std::vector<std::vector<TokenId>> tokens;
        for (const run::StepResult& step : result.steps) {
          tokens.push_back(step.tokens);
          preemptions += step.metrics.preemptions;
        }
        return result.error ? std::vector<std::vector<TokenId>>() : tokens;
      };
      const auto expected = answers(2000);
      QVERIFY(!expected.empty());
      for (const std::int32_t blocks : {50, 70, 100}) {
        const auto found = answers(blocks);
        if (found.empty()) continue;
        ++compared;
        QCOMPARE(found, expected);
      }
    }
    QVERIFY2(compared > 10, "most pools were too small");
    QVERIFY2(preemptions > 0, "nobody gave way");
  }

  /// The trace of such a prompt is enough to replay its answer through the model.
  void tracesTellWhatAnswersStandIn() {
    SpanletSession spanlet;
    const Answers answers = answersOf(spanlet, quotingPlan(), "relay(0.3)");
    std::map<RequestId, run::FinishedAnswer> traced;
    for (const trace::Event& event : spanlet.sink.events) {
      if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload))
        traced[event.request].segments = table->segments;
      if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload))
        traced[event.request].tokens.push_back(token->token);
    }
    QCOMPARE(traced.size(), answers.tokens.size());
    for (auto& [request, answer] : traced) {
      answer.policy = *policy::findChoice("relay(0.3)");
      const run::ReplayedAnswer replayed = spanlet.session->replayAnswer(answer, 0);
      QCOMPARE(replayed.logits.size(), answer.tokens.size());
      for (std::size_t row = 0; row < answer.tokens.size(); ++row) {
        const std::vector<float>& logits = replayed.logits[row];
        QCOMPARE(static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin()),
                 answer.tokens[row]);
      }
    }
  }

 private:
  std::uint64_t m_seed = 0;
};

SPANSCOPE_TEST(tst_relay, TestRelay)
#include "tst_relay.moc"
