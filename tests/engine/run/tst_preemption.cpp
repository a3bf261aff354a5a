// SPDX-License-Identifier: GPL-3.0-or-later
// Admission by what is needed now: who gives way when blocks run out, what is computed again, and that
// answers do not change by it.
#include "engine/metrics/trace_stats.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/scheduler.h"
#include "engine/trace/replay.h"
#include "tests/engine/run/random_queries.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace spanscope;
using run::RunResult;
using test::RandomSession;
using test::SpanletSession;

namespace {

plan::Plan planOf(const std::string& json) {
  const auto parsed = query::parseJson(json);
  if (!parsed.query) throw Failure({.file = "test", .place = json, .found = "errors", .expected = "a query"});
  const auto result = plan::makePlan(*parsed.query, {});
  if (!result.plan) throw Failure(result.problems.front());
  return *result.plan;
}

std::string generate(const std::string& text, int maxTokens, float temperature = 0) {
  return R"({"g":{"model":"m","max_tokens":)" + std::to_string(maxTokens) + R"(,"temperature":)" +
         std::to_string(temperature) + R"(,"input":{"user":")" + text + R"("}}})";
}

std::string repeated(int count, const std::string& text, int maxTokens, float temperature) {
  return R"({"plus":[{"repeat":{"n":)" + std::to_string(count) + R"(,"g":)" +
         generate(text, maxTokens, temperature).substr(5) + "}]}";
}

run::SessionConfig withBlocks(std::int32_t count, std::int32_t blockSize = 16) {
  run::SessionConfig config;
  config.blockCount = count;
  config.blockSize = blockSize;
  return config;
}

QString messageOf(const RunResult& result) {
  return result.error ? QString::fromStdString(result.error->message()) : QString();
}

std::int64_t computedOf(const RunResult& result) {
  return std::accumulate(
      result.steps.begin(), result.steps.end(), std::int64_t{0},
      [](std::int64_t sum, const run::StepResult& step) { return sum + step.metrics.computedTokens; });
}

std::vector<std::vector<TokenId>> answersOf(const RunResult& result) {
  std::vector<std::vector<TokenId>> answers;
  for (const run::StepResult& step : result.steps) answers.push_back(step.tokens);
  return answers;
}

/// Rows of prompts and answers that were computed, and those of them that had been computed before.
struct Rows {
  std::int64_t fresh = 0;
  std::int64_t repeated = 0;
};
Rows rowsOf(const test::RecordingSink& sink) {
  Rows rows;
  for (const trace::BatchComputed& batch : sink.all<trace::BatchComputed>()) {
    for (const trace::BatchEntry& entry : batch.entries)
      (entry.repeated ? rows.repeated : rows.fresh) += entry.count;
  }
  return rows;
}

}  // namespace

class TestPreemption : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aLongestAnswerThatWouldNotFitIsNoReasonToRefuse();
  void copiesRunTogetherWhateverTheyMaySay();
  void answersStayTheSame_data();
  void answersStayTheSame();
  void randomQueriesStayTheSame_data();
  void randomQueriesStayTheSame();
  void nothingIsComputedThatOneAfterTheOtherWouldNot();
  void theYoungestGivesWay();
  void eventsAndCountersTellOfIt();
  void aAnswerThatOutgrowsThePoolIsAnErrorThatSaysSo();
  void runningRequestsSurviveAnEmptiedCache_data();
  void runningRequestsSurviveAnEmptiedCache();
};

void TestPreemption::aLongestAnswerThatWouldNotFitIsNoReasonToRefuse() {
  SpanletSession spanlet(withBlocks(30));
  const RunResult result = spanlet.session->run(planOf(generate("Where does Mira live?", 40000)), {});
  QVERIFY2(result.outcome == trace::RunOutcome::Finished, qPrintable(messageOf(result)));
  QCOMPARE(result.steps[0].outcome, trace::StepOutcome::EndToken);
  QCOMPARE(result.steps[0].metrics.preemptions, 0);
}

void TestPreemption::copiesRunTogetherWhateverTheyMaySay() {
  SpanletSession spanlet(withBlocks(512));
  const RunResult result =
      spanlet.session->run(planOf(repeated(32, "Where does Mira live?", 2048, 0.7F)), {});
  QVERIFY2(result.outcome == trace::RunOutcome::Finished, qPrintable(messageOf(result)));
  std::size_t longest = 0;
  for (const run::StepResult& step : result.steps) longest = std::max(longest, step.tokens.size());
  // One pass for the prompt, then the copies, each with the prompt's last token, side by side.
  QCOMPARE(spanlet.sink.all<trace::BatchComputed>().size(), longest + 1);
  QCOMPARE(computedOf(result), result.steps[0].metrics.promptTokens + 31);
}

void TestPreemption::answersStayTheSame_data() {
  QTest::addColumn<int>("blocks");
  QTest::addColumn<int>("blockSize");
  QTest::addColumn<int>("rows");
  QTest::addColumn<bool>("tails");
  QTest::newRow("blocks of 16") << 12 << 16 << 512 << true;
  QTest::newRow("blocks of 16, few rows a pass") << 12 << 16 << 5 << true;
  QTest::newRow("blocks of 3") << 60 << 3 << 512 << true;
  QTest::newRow("single tokens") << 150 << 1 << 64 << true;
  QTest::newRow("no tails") << 14 << 16 << 512 << false;
}

void TestPreemption::answersStayTheSame() {
  QFETCH(int, blocks);
  QFETCH(int, blockSize);
  QFETCH(int, rows);
  QFETCH(bool, tails);
  const plan::Plan plan = planOf(repeated(6, "Where does Mira live, and why not elsewhere?", 80, 0.9F));
  RandomSession roomy(withBlocks(4000, blockSize), false);
  const RunResult expected = roomy.session->run(plan, {});
  QCOMPARE(expected.outcome, trace::RunOutcome::Finished);

  run::SessionConfig config = withBlocks(blocks, blockSize);
  config.rowsPerPass = rows;
  config.cacheTails = tails;
  RandomSession tight(config, false);
  const RunResult result = tight.session->run(plan, {});
  QVERIFY2(result.outcome == trace::RunOutcome::Finished, qPrintable(messageOf(result)));
  QCOMPARE(answersOf(result), answersOf(expected));
  QVERIFY(!tight.sink.all<trace::RequestPreempted>().empty());

  trace::Replay replay;
  for (const trace::Event& event : tight.sink.events) {
    const auto error = replay.apply(event);
    QVERIFY2(!error, error ? error->message().c_str() : "");
  }
  QCOMPARE(replay.pool().state(), tight.session->dumpPool());
  for (const trace::BlockState& block : tight.session->dumpPool().blocks) QCOMPARE(block.references, 0);
}

void TestPreemption::randomQueriesStayTheSame_data() {
  QTest::addColumn<bool>("endTokens");
  QTest::newRow("replies of all lengths") << true;
  QTest::newRow("replies as long as they may be") << false;
}

void TestPreemption::randomQueriesStayTheSame() {
  QFETCH(bool, endTokens);
  const std::uint32_t seed = 20261122;
  qInfo("seed %u", seed);
  test::RandomQueries queries(seed, 90);
  RandomSession roomy(withBlocks(4096), endTokens);
  int preemptions = 0;
  // Answers that end early seldom fill a pool.
  const int rounds = endTokens ? 200 : 40;
  const int spread = endTokens ? 8 : 20;
  for (int round = 0; round < rounds; ++round) {
    const plan::Plan plan = planOf(round % 2 == 0 ? queries.independent() : queries.nested());
    RandomSession tight(withBlocks(12 + queries.below(spread)), endTokens);
    const RunResult result = tight.session->run(plan, {});
    if (result.outcome == trace::RunOutcome::Failed) continue;
    roomy.session->clearCache();
    const RunResult expected = roomy.session->run(plan, {});
    QCOMPARE(answersOf(result), answersOf(expected));
    preemptions += static_cast<int>(tight.sink.all<trace::RequestPreempted>().size());
  }
  qInfo("%d preemptions", preemptions);
  QVERIFY(preemptions > 5);
}

/// Requests that share something wait for each other rather than compute it twice.
void TestPreemption::nothingIsComputedThatOneAfterTheOtherWouldNot() {
  const std::uint32_t seed = 77;
  qInfo("seed %u", seed);
  test::RandomQueries queries(seed);
  RandomSession together(withBlocks(4096), true);
  RandomSession alone(withBlocks(4096), true);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> singles;
    std::string all = R"({"par":[)";
    for (int i = 0; i < 4; ++i) {
      singles.push_back(queries.single());
      all += (i > 0 ? "," : "") + singles.back();
    }
    together.session->clearCache();
    alone.session->clearCache();
    const RunResult result = together.session->run(planOf(all + "]}"), {});
    std::int64_t computed = 0;
    for (const std::string& single : singles) computed += computedOf(alone.session->run(planOf(single), {}));
    QVERIFY2(computedOf(result) == computed, qPrintable(QString("%1, alone %2\n%3")
                                                            .arg(computedOf(result))
                                                            .arg(computed)
                                                            .arg(QString::fromStdString(all))));
  }
}

void TestPreemption::theYoungestGivesWay() {
  RandomSession random(withBlocks(14), false);
  const plan::Plan plan = planOf(repeated(4, "Where does Mira live?", 70, 0.9F));
  const RunResult result = random.session->run(plan, {});
  QCOMPARE(result.outcome, trace::RunOutcome::Finished);
  std::set<RequestId> running;
  int preempted = 0;
  for (const trace::Event& event : random.sink.events) {
    if (std::holds_alternative<trace::RequestAdmitted>(event.payload)) {
      running.insert(event.request);
    } else if (std::holds_alternative<trace::StepFinished>(event.payload)) {
      running.erase(event.request);
    } else if (const auto* given = std::get_if<trace::RequestPreempted>(&event.payload)) {
      QCOMPARE(event.request, *running.rbegin());
      QVERIFY(given->requester <= event.request);
      QVERIFY(given->blocks > 0);
      running.erase(event.request);
      ++preempted;
    }
  }
  QVERIFY(preempted > 0);
  // The first one is never in anybody's way.
  QCOMPARE(result.steps[0].metrics.preemptions, 0);
}

void TestPreemption::eventsAndCountersTellOfIt() {
  RandomSession random(withBlocks(13), false);
  const RunResult result = random.session->run(planOf(repeated(4, "Where does Mira live?", 70, 0.9F)), {});
  QCOMPARE(result.outcome, trace::RunOutcome::Finished);
  const metrics::TraceStats stats = metrics::stats(random.sink.events);
  const Rows rows = rowsOf(random.sink);
  QVERIFY(stats.preemptions > 0);
  QVERIFY(rows.repeated > 0);
  QCOMPARE(stats.preemptions, random.sink.all<trace::RequestPreempted>().size());
  QCOMPARE(stats.recomputedTokens, rows.repeated);
  std::int64_t preemptions = 0;
  std::int64_t recomputed = 0;
  std::int64_t prompts = 0;
  std::int64_t generated = 0;
  for (const run::StepResult& step : result.steps) {
    preemptions += step.metrics.preemptions;
    recomputed += step.metrics.recomputedTokens;
    prompts += step.metrics.computedTokens;
    generated += step.metrics.generatedTokens;
    QCOMPARE(step.metrics.cachedTokens + step.metrics.computedTokens, step.metrics.promptTokens);
  }
  QCOMPARE(static_cast<std::int64_t>(stats.preemptions), preemptions);
  QCOMPARE(recomputed, rows.repeated);
  // The last token of each answer is never computed. Hit rates are those of the first admissions (row C4).
  QCOMPARE(rows.fresh, prompts + generated - static_cast<std::int64_t>(result.steps.size()));
  QCOMPARE(stats.promptTokens, 4 * result.steps[0].metrics.promptTokens);
  QVERIFY(stats.resumedTokens > 0 && stats.resumedCachedTokens < stats.resumedTokens);

  trace::Replay replay;
  for (const trace::Event& event : random.sink.events) QVERIFY(!replay.apply(event));
  QCOMPARE(replay.progress().preemptions, preemptions);
  QCOMPARE(replay.progress().recomputedTokens, recomputed);
  for (const run::StepResult& step : result.steps) {
    const trace::RequestState& request = replay.progress().requests.at(step.request);
    QCOMPARE(request.preemptions, step.metrics.preemptions);
    QCOMPARE(request.cachedTokens, step.metrics.cachedTokens);
    QCOMPARE(request.computedTokens, step.metrics.computedTokens);
    QCOMPARE(request.phase, trace::RequestPhase::Finished);
    // Blocks of the answer count as computed, though they are cache hits of a resumed request.
    for (const auto& [place, block] : request.blocks) {
      const std::int32_t begin = place.virtualIndex * 16;
      if (begin < step.metrics.promptTokens) continue;
      QCOMPARE(block.lookup, std::uint64_t{0});
      QCOMPARE(block.outcome, trace::LookupOutcome::Miss);
    }
  }
}

void TestPreemption::aAnswerThatOutgrowsThePoolIsAnErrorThatSaysSo() {
  RandomSession random(withBlocks(5), false);
  const RunResult result = random.session->run(planOf(generate("Where does Mira live?", 400)), {});
  QCOMPARE(result.outcome, trace::RunOutcome::Failed);
  QVERIFY(result.error.has_value());
  const QString message = messageOf(result);
  QVERIFY2(message.contains("of at most 400") && message.contains("5 blocks of 16") && message.contains("4 usable blocks"), qPrintable(message));
  for (const trace::BlockState& block : random.session->dumpPool().blocks) QCOMPARE(block.references, 0);
  QCOMPARE(random.session->run(planOf(generate("Where?", 8)), {}).outcome, trace::RunOutcome::Finished);
}

void TestPreemption::runningRequestsSurviveAnEmptiedCache_data() {
  QTest::addColumn<int>("every");
  QTest::newRow("every pass") << 1;
  QTest::newRow("now and then") << 3;
}

/// Row C6.
void TestPreemption::runningRequestsSurviveAnEmptiedCache() {
  QFETCH(int, every);
  test::RandomQueries queries(5, 60);
  const plan::Plan plan = planOf(queries.nested());
  RandomSession random(withBlocks(400), false);
  const RunResult expected = random.session->run(plan, {});
  random.session->clearCache();
  random.sink.events.clear();
  run::RunOptions options;
  int passes = 0;
  options.emptyCache = [&] { return ++passes % every == 0; };
  const RunResult result = random.session->run(plan, options);
  QVERIFY2(result.outcome == trace::RunOutcome::Finished, qPrintable(messageOf(result)));
  QCOMPARE(answersOf(result), answersOf(expected));
  QVERIFY(random.sink.all<trace::CacheCleared>().size() > 3);
  const std::vector<trace::RequestPreempted> preempted = random.sink.all<trace::RequestPreempted>();
  QVERIFY(preempted.size() > 3);
}

SPANSCOPE_TEST(tst_preemption, TestPreemption, QCoreApplication)
#include "tst_preemption.moc"
