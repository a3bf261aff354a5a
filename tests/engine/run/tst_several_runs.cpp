// SPDX-License-Identifier: GPL-3.0-or-later
// Runs in progress at once over one scheduler and one pool: the answers, cache hits and events of each are
// its own.
#include "engine/plan/planner.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/trace/replay.h"
#include "tests/engine/run/random_queries.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using run::RunOptions;
using run::RunResult;
using spanscope::test::RandomQueries;
using spanscope::test::RandomSession;
using spanscope::test::RecordingSink;
using spanscope::test::SpanletSession;

namespace {

std::shared_ptr<const plan::Plan> planOf(const std::string& json) {
  const auto parsed = query::parseJson(json);
  if (!parsed.query) throw Failure({.file = "test", .place = json, .found = "errors", .expected = "a query"});
  auto result = plan::makePlan(*parsed.query, {});
  if (!result.plan) throw Failure(result.problems.front());
  return std::make_shared<const plan::Plan>(std::move(*result.plan));
}

std::string ask(const std::string& document, int tokens = 12) {
  return R"({"g":{"model":"m","max_tokens":)" + std::to_string(tokens) +
         R"(,"temperature":0.0,"input":{"cross":[{"system":"You answer from the documents."},{"plus":[{"user":")" +
         document + R"("}]},{"user":"Where does Mira live?"}]}}})";
}

RunOptions withPolicy(const std::string& name) {
  RunOptions options;
  options.policy = *policy::findChoice(name);
  return options;
}

void finishAll(run::Session& session) {
  while (session.isRunning()) session.advance();
}

/// Events that contradict those before them.
std::vector<std::string> contradictions(const RecordingSink& sink) {
  trace::Replay replay;
  std::vector<std::string> found;
  for (const trace::Event& event : sink.events) {
    if (const auto error = replay.apply(event)) found.push_back(error->message());
  }
  return found;
}

bool sameAnswers(const RunResult& a, const RunResult& b) {
  if (a.outcome != b.outcome || a.answer != b.answer || a.steps.size() != b.steps.size()) return false;
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    if (a.steps[i].tokens != b.steps[i].tokens || a.steps[i].outcome != b.steps[i].outcome) return false;
  }
  return true;
}

/// Numbers of the runs with a request that was computed in the same pass as one of another run.
std::vector<RunId> passMates(const RecordingSink& sink) {
  std::map<RequestId, RunId> runs;
  std::vector<RunId> found;
  for (const trace::Event& event : sink.events) {
    if (std::holds_alternative<trace::StepStarted>(event.payload)) runs[event.request] = event.run;
    const auto* pass = std::get_if<trace::BatchComputed>(&event.payload);
    if (pass == nullptr) continue;
    for (const auto& entry : pass->entries) {
      if (runs.at(entry.request) != runs.at(pass->entries.front().request))
        found.push_back(runs.at(entry.request));
    }
  }
  return found;
}

/// Tokens of the first step's prompt that were found.
std::int64_t cachedOf(const RunResult& result) {
  return result.steps.front().metrics.cachedTokens;
}

}  // namespace

class TestSeveralRuns : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sharePassesAndAnswerAsAlone() {
    const auto first = planOf(ask("Mira lives in Lisbon. Mira plays the cello."));
    const auto second = planOf(ask("Mira lives in Oslo."));
    SpanletSession alone;
    const RunResult firstAlone = alone.session->run(*first, {});
    const RunResult secondAlone = alone.session->run(*second, {});

    SpanletSession spanlet;
    const RunId a = spanlet.session->begin(first, {});
    const RunId b = spanlet.session->begin(second, {});
    QVERIFY(spanlet.session->isRunning());
    QVERIFY(!spanlet.session->take(a));
    finishAll(*spanlet.session);
    const auto resultA = spanlet.session->take(a);
    const auto resultB = spanlet.session->take(b);
    QVERIFY(resultA && resultB);
    QVERIFY(!spanlet.session->take(a));
    QVERIFY(sameAnswers(*resultA, firstAlone));
    QVERIFY(sameAnswers(*resultB, secondAlone));
    QVERIFY(!passMates(spanlet.sink).empty());
    QCOMPARE(contradictions(spanlet.sink), std::vector<std::string>());
  }

  /// Random queries under every policy, in a pool that is too small for all of them.
  void randomRunsAnswerAsAlone() {
    std::vector<std::string> policies{"link(4)", "blend(0.3)", "sparse(2)"};
    for (const policy::Policy* policy : policy::policies())
      policies.push_back(policy::Choice(*policy).name());
    std::mt19937 random(m_seed);
    RandomQueries queries(m_seed);
    int beside = 0;
    for (int round = 0; round < 25; ++round) {
      run::SessionConfig config;
      config.blockSize = random() % 2 == 0 ? 8 : 16;
      config.blockCount = 3000 / config.blockSize;
      config.rowsPerPass = random() % 2 == 0 ? 64 : 512;
      RandomSession together(config, true);
      std::vector<std::shared_ptr<const plan::Plan>> plans;
      std::vector<RunOptions> options;
      std::vector<RunId> runs;
      std::vector<std::string> texts;
      const std::size_t count = 2 + random() % 3;
      for (std::size_t i = 0; i < count; ++i) {
        texts.push_back(random() % 2 == 0 ? queries.independent() : queries.nested());
        plans.push_back(planOf(texts.back()));
        options.push_back(withPolicy(policies[random() % policies.size()]));
        options.back().priority = static_cast<std::int32_t>(random() % 3);
        options.back().seed = random();
        if (random() % 3 == 0) options.back().salt = "tenant " + std::to_string(random() % 2);
      }
      for (std::size_t i = 0; i < count; ++i) {
        runs.push_back(together.session->begin(plans[i], options[i]));
        for (std::size_t passes = random() % 6; passes > 0; --passes) together.session->advance();
      }
      finishAll(*together.session);
      beside += static_cast<int>(passMates(together.sink).size());
      QCOMPARE(contradictions(together.sink), std::vector<std::string>());
      for (std::size_t i = 0; i < count; ++i) {
        RandomSession alone(config, true);
        const auto result = together.session->take(runs[i]);
        QVERIFY(result);
        const RunResult expected = alone.session->run(*plans[i], options[i]);
        QVERIFY2(sameAnswers(*result, expected),
                 (options[i].policy.name() + " " + texts[i] + "\n" +
                  (result->error ? result->error->message() : result->answer) + "\n" +
                  (expected.error ? expected.error->message() : expected.answer))
                     .c_str());
      }
      // Nobody holds blocks any more.
      const trace::PoolState pool = together.session->dumpPool();
      for (std::size_t block = 1; block < pool.blocks.size(); ++block)
        QCOMPARE(pool.blocks[block].references, 0);
    }
    QVERIFY(beside > 50);
  }

  void eachFindsBlocksOfItsOwnTenant() {
    SpanletSession spanlet;
    const auto plan = planOf(ask("Mira lives in Lisbon. Mira plays the cello. The lamp gave little light."));
    RunOptions blue;
    blue.salt = "blue";
    const RunResult first = spanlet.session->run(*plan, blue);
    QCOMPARE(cachedOf(first), 0);
    const RunResult stranger = spanlet.session->run(*plan, {});
    QCOMPARE(cachedOf(stranger), 0);
    const RunResult again = spanlet.session->run(*plan, blue);
    QVERIFY(cachedOf(again) > 0);
    QCOMPARE(again.answer, first.answer);
    QCOMPARE(stranger.answer, first.answer);
    // The session's own is a tenant as well.
    QVERIFY(cachedOf(spanlet.session->run(*plan, {})) > 0);
  }

  /// The recomputed part of an answer finds what its run stored, under any tenant.
  void replaysFindBlocksOfTheirRun() {
    SpanletSession spanlet;
    const auto plan = planOf(ask("Mira lives in Lisbon. Mira plays the cello. The lamp gave little light."));
    RunOptions blue;
    blue.salt = "blue";
    run::FinishedAnswer answer;
    const RunResult salted = spanlet.session->run(*plan, blue);
    answer.run = spanlet.session->lastRun();
    answer.segments = spanlet.sink.all<trace::SpanTableLaidOut>().back().segments;
    answer.tokens = salted.steps.front().tokens;
    const std::int64_t prompt = salted.steps.front().metrics.promptTokens;
    const run::ReplayedAnswer replayed = spanlet.session->replayAnswer(answer, 0);
    QCOMPARE(replayed.recomputedTokens, std::int64_t{0});
    QCOMPARE(replayed.cachedTokens, prompt - 1);
    const trace::AttentionReplayed seen = spanlet.session->replayAttention({.answer = answer, .layer = 1});
    QCOMPARE(seen.recomputedTokens, 0);
    // As a stranger would: of another tenant nothing is found.
    run::FinishedAnswer stranger = answer;
    stranger.run = 0;
    QCOMPARE(spanlet.session->replayAnswer(stranger, 0).cachedTokens, std::int64_t{0});
  }

  /// At once, too: neither waits for what the other computes.
  void tenantsComputeForThemselves() {
    SpanletSession spanlet;
    const auto plan = planOf(ask("Mira lives in Lisbon. Mira plays the cello. The lamp gave little light."));
    std::vector<RunId> runs;
    for (const char* salt : {"blue", "red"}) {
      RunOptions options;
      options.salt = salt;
      runs.push_back(spanlet.session->begin(plan, options));
    }
    finishAll(*spanlet.session);
    for (const RunId run : runs) QCOMPARE(cachedOf(*spanlet.session->take(run)), 0);
    QVERIFY(spanlet.sink.all<trace::RequestDeferred>().empty());
  }

  void stoppingOneLeavesTheOthers() {
    SpanletSession spanlet;
    const auto plan = planOf(ask("Mira lives in Lisbon.", 24));
    const RunResult expected = SpanletSession().session->run(*plan, {});
    std::stop_source stop;
    const RunId stopped = spanlet.session->begin(planOf(ask("Tarek is a baker.", 24)), {}, stop.get_token());
    const RunId other = spanlet.session->begin(plan, {});
    for (int i = 0; i < 3; ++i) spanlet.session->advance();
    stop.request_stop();
    spanlet.session->advance();
    const auto first = spanlet.session->take(stopped);
    QVERIFY(first);
    QCOMPARE(first->outcome, trace::RunOutcome::Stopped);
    QVERIFY(!spanlet.session->take(other));
    finishAll(*spanlet.session);
    QVERIFY(sameAnswers(*spanlet.session->take(other), expected));
    QCOMPARE(contradictions(spanlet.sink), std::vector<std::string>());
  }

  /// Asked for while a pass is computed, which goes on for the other run.
  void aStopDuringAPassOfSeveral() {
    SpanletSession spanlet;
    const auto plan = planOf(ask("Mira lives in Lisbon.", 24));
    const RunResult expected = SpanletSession().session->run(*plan, {});
    std::stop_source stop;
    spanlet.sink.onEvent = [&](const trace::Event& event) {
      const auto* token = std::get_if<trace::TokenGenerated>(&event.payload);
      if (token != nullptr && token->index == 4) stop.request_stop();
    };
    const RunId stopped = spanlet.session->begin(planOf(ask("Tarek is a baker.", 24)), {}, stop.get_token());
    const RunId other = spanlet.session->begin(plan, {});
    finishAll(*spanlet.session);
    QCOMPARE(spanlet.session->take(stopped)->outcome, trace::RunOutcome::Stopped);
    QVERIFY(sameAnswers(*spanlet.session->take(other), expected));
  }

  void stoppingAllEndsThePass() {
    SpanletSession spanlet;
    std::stop_source stop;
    std::vector<RunId> runs;
    for (const char* document : {"Mira lives in Lisbon.", "Tarek is a baker."})
      runs.push_back(spanlet.session->begin(planOf(ask(document, 24)), {}, stop.get_token()));
    spanlet.session->advance();
    stop.request_stop();
    spanlet.session->advance();
    QVERIFY(!spanlet.session->isRunning());
    for (const RunId run : runs) QCOMPARE(spanlet.session->take(run)->outcome, trace::RunOutcome::Stopped);
  }

  /// What one cannot lay out is its own failure.
  void oneThatFailsLeavesTheOthers() {
    SpanletSession spanlet({}, 2, true, 200);
    std::string longText;
    for (int i = 0; i < 200; ++i) longText += "The lamp gave little light. ";
    const auto plan = planOf(ask("Mira lives in Lisbon."));
    const RunResult expected = SpanletSession({}, 2, true, 200).session->run(*plan, {});
    const RunId other = spanlet.session->begin(plan, {});
    spanlet.session->advance();
    const RunId tooLong = spanlet.session->begin(planOf(ask(longText)), {});
    finishAll(*spanlet.session);
    const auto failed = spanlet.session->take(tooLong);
    QCOMPARE(failed->outcome, trace::RunOutcome::Failed);
    QVERIFY(failed->error);
    QVERIFY(sameAnswers(*spanlet.session->take(other), expected));
  }

  /// Of waiting requests, the one with the larger priority begins first, in any order of arrival.
  void priorityDecidesWhoIsServedFirst() {
    const std::string mira = ask("Mira lives in Lisbon. Mira plays the cello.");
    const std::string oslo = ask("Mira lives in Oslo, the capital of Norway.");
    const std::string quito = ask("Mira lives in Quito, high in the mountains.");
    // Room for one of them.
    run::SessionConfig config;
    const auto fits = [&](const std::string& query) {
      return SpanletSession(config).session->run(*planOf(query), {}).outcome == trace::RunOutcome::Finished;
    };
    for (config.blockCount = 3; !fits(mira) || !fits(oslo) || !fits(quito);) ++config.blockCount;
    SpanletSession spanlet(config);
    const auto started = [&] {
      std::vector<RunId> order;
      for (const trace::Event& event : spanlet.sink.events) {
        const auto* token = std::get_if<trace::TokenGenerated>(&event.payload);
        if (token != nullptr && token->index == 0) order.push_back(event.run);
      }
      return order;
    };
    const RunId first = spanlet.session->begin(planOf(mira), {});
    spanlet.session->advance();
    RunOptions late;
    late.priority = -1;
    const RunId last = spanlet.session->begin(planOf(oslo), late);
    spanlet.session->advance();
    RunOptions urgent;
    urgent.priority = 5;
    const RunId next = spanlet.session->begin(planOf(quito), urgent);
    finishAll(*spanlet.session);
    QCOMPARE(started(), (std::vector<RunId>{first, next, last}));
    for (const RunId run : {first, next, last})
      QCOMPARE(spanlet.session->take(run)->outcome, trace::RunOutcome::Finished);
  }

  /// One that has begun beside others by run() has them go on, and what they gave is kept for them.
  void runHasTheOthersGoOn() {
    SpanletSession spanlet;
    const RunId other = spanlet.session->begin(planOf(ask("Tarek is a baker.", 4)), {});
    const RunResult own = spanlet.session->run(*planOf(ask("Mira lives in Lisbon.", 40)), {});
    QCOMPARE(own.outcome, trace::RunOutcome::Finished);
    QVERIFY(!passMates(spanlet.sink).empty());
    const auto result = spanlet.session->take(other);
    QVERIFY(result || spanlet.session->isRunning());
    finishAll(*spanlet.session);
  }

  void nothingIsComputedOutsideOfRunsMeanwhile() {
    SpanletSession spanlet;
    const RunId run = spanlet.session->begin(planOf(ask("Mira lives in Lisbon.")), {});
    layout::SpanTable table;
    table.segments.emplace_back().tokens = {20, 21, 22};
    QVERIFY_EXCEPTION_THROWN(spanlet.session->logits({.table = table}), Failure);
    finishAll(*spanlet.session);
    QCOMPARE(spanlet.session->take(run)->outcome, trace::RunOutcome::Finished);
    QVERIFY(!spanlet.session->logits({.table = table}).logits.empty());
  }

  /// Observed attention has a separate bound for each run.
  void attentionIsEachRunsOwn() {
    SpanletSession spanlet;
    RunOptions observed;
    observed.observedLayers = {0, 1};
    RunOptions bounded = observed;
    bounded.attentionBytes = 1;
    const RunId all = spanlet.session->begin(planOf(ask("Mira lives in Lisbon.")), observed);
    const RunId none = spanlet.session->begin(planOf(ask("Tarek is a baker.")), bounded);
    const RunId unseen = spanlet.session->begin(planOf(ask("Nadia was born in May.")), {});
    finishAll(*spanlet.session);
    std::map<RunId, int> seen;
    std::map<RunId, int> leftOut;
    for (const trace::Event& event : spanlet.sink.events) {
      seen[event.run] += std::holds_alternative<trace::SegmentAttention>(event.payload) ? 1 : 0;
      leftOut[event.run] += std::holds_alternative<trace::AttentionLeftOut>(event.payload) ? 1 : 0;
    }
    QVERIFY(seen[all] > 0);
    QCOMPARE(leftOut[all], 0);
    QCOMPARE(seen[none], 0);
    QVERIFY(leftOut[none] > 0);
    QCOMPARE(seen[unseen], 0);
  }

 private:
  std::uint32_t m_seed = static_cast<std::uint32_t>(testing::testSeed(20261124));
};

SPANSCOPE_TEST(tst_several_runs, TestSeveralRuns)
#include "tst_several_runs.moc"
