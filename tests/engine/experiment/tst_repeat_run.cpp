// SPDX-License-Identifier: GPL-3.0-or-later
// A query run again and again: what each case finds in the cache is exact, whatever the times are.
#include "engine/base/error.h"
#include "engine/experiment/experiment_amount.h"
#include "engine/experiment/repeat_run.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/run/predictor.h"
#include "engine/run/run_options.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/resource_paths.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::experiment;

namespace {

query::Node read(const char* json) {
  const query::ParseResult parsed = query::parseJson(json);
  return parsed.query.value_or(query::Node{});
}

query::Node example(const QString& name) {
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/") + name);
  if (!file.open(QIODevice::ReadOnly)) return {};
  return read(file.readAll().constData());
}

std::size_t at(RunCase runCase) {
  return static_cast<std::size_t>(runCase);
}

/// The bundled model with a pool of its own.
struct Bench {
  explicit Bench(const run::SessionConfig& config = {})
      : bundle(workbench::loadModelBundle(workbench::bundledModelDirectory(), test::cpuBackends(),
                                          {.threads = 2})),
        session(workbench::makeSession(bundle, config, sink)) {}

  /// Whether it came to its end.
  bool measure(const query::Node& query, std::int32_t repeats, RepeatWatch watch = {},
               const std::stop_token& stop = {}) {
    const auto given = watch.turnEnded;
    watch.turnEnded = [this, given](const RepeatTurn& turn) {
      turns.push_back(turn);
      if (given) given(turn);
    };
    return measureRepeats(*session, sink, planCases(query, {}), {.run = options, .repeats = repeats}, watch,
                          stop);
  }

  RunMetricsSink sink;
  workbench::ModelBundle bundle;
  std::unique_ptr<run::Session> session;
  run::RunOptions options;
  std::vector<RepeatTurn> turns;
};

std::optional<std::string> floorOf(const char* json) {
  const std::optional<query::Node> left = withoutPluses(read(json));
  if (!left) return std::nullopt;
  return query::writeCanonical(*left);
}

}  // namespace

class TestRepeatRun : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void plusesAreTakenOut_data() {
    QTest::addColumn<QByteArray>("given");
    QTest::addColumn<QByteArray>("left");  // empty: nothing
    const auto row = [](const char* name, const char* given, const char* left) {
      QTest::newRow(name) << QByteArray(given)
                          << (*left == '\0' ? QByteArray()
                                            : QByteArray::fromStdString(query::writeCanonical(read(left))));
    };
    row("beside a question",
        R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]}}})",
        R"({"g":{"model":"m","input":{"cross":[{"user":"q"}]}}})");
    row("nested",
        R"({"g":{"model":"m","input":{"cross":[{"cross":[{"plus":[{"user":"a"}]}]},{"user":"q"}]}}})",
        R"({"g":{"model":"m","input":{"cross":[{"user":"q"}]}}})");
    row("with a step in it",
        R"({"g":{"model":"m","input":{"cross":[{"plus":[{"g":{"model":"m","input":{"user":"a"}}}]},)"
        R"({"user":"q"}]}}})",
        R"({"g":{"model":"m","input":{"cross":[{"user":"q"}]}}})");
    row("as the whole prompt", R"({"g":{"model":"m","input":{"plus":[{"user":"a"},{"user":"b"}]}}})", "");
    row("as the whole query", R"({"plus":[{"g":{"model":"m","input":{"user":"a"}}}]})", "");
  }

  void plusesAreTakenOut() {
    QFETCH(QByteArray, given);
    QFETCH(QByteArray, left);
    const std::optional<std::string> found = floorOf(given.constData());
    QCOMPARE(found.has_value(), !left.isEmpty());
    if (found) QCOMPARE(QByteArray::fromStdString(*found), left);
  }

  /// What is said before it runs holds what it computes, with the turn to warm up.
  void amountsAreForetold_data() {
    QTest::addColumn<QString>("file");
    for (const char* file : {"rag.json", "judge-2.json", "chat.json"})
      QTest::newRow(file) << QString::fromLatin1(file);
  }

  void amountsAreForetold() {
    QFETCH(QString, file);
    const query::Node query = example(file);
    constexpr std::int32_t kRepeats = 2;
    Bench bench;
    QVERIFY(bench.measure(query, kRepeats));
    std::int64_t prompt = 0;
    std::int64_t generated = 0;
    std::int64_t cold = 0;
    for (const RepeatTurn& turn : bench.turns) {
      cold += turn[at(RunCase::Cold)]->measured.computedTokens;
      for (const std::optional<RunSample>& sample : turn) {
        if (!sample) continue;
        prompt += sample->measured.computedTokens;
        generated += sample->measured.generatedTokens;
      }
    }
    run::Predictor predictor(run::SessionConfig(), bench.bundle.config, *bench.bundle.tokenizer,
                             *bench.bundle.chat);
    const std::vector<PlannedCase> cases = planCases(query, {});
    const plan::Plan& plan = cases[at(RunCase::Cold)].plan;
    const TokenAmount once = coldAmount(predictor.predict(plan, bench.options), plan);
    QVERIFY(once.prompt.holds(cold / kRepeats));
    const TokenAmount amount = repeatsAmount(once, kRepeats);
    QVERIFY(amount.prompt.holds(prompt / kRepeats * (kRepeats + 1)));
    QVERIFY(amount.generated.holds(generated / kRepeats * (kRepeats + 1)));
    QCOMPARE(repeatsAmount(once, 5).prompt.least, 2 * amount.prompt.least);
    QCOMPARE(comparisonAmount(once, 4).prompt.most, 4 * comparisonAmount(once, 1).prompt.most);
  }

  void casesSayWhyTheyAreNot() {
    const auto gapOf = [](const query::Node& query, RunCase runCase) {
      return planCases(query, {})[at(runCase)].gap;
    };
    const query::Node rag = example(QStringLiteral("rag.json"));
    for (const RunCase runCase : kRunCases) QCOMPARE(gapOf(rag, runCase), CaseGap::None);
    // The copies of a repeat under plus can be swapped though they are one node.
    QCOMPARE(gapOf(example(QStringLiteral("judge-4.json")), RunCase::Swapped), CaseGap::None);

    const query::Node plain = read(R"({"g":{"model":"m","input":{"user":"hello"}}})");
    QCOMPARE(gapOf(plain, RunCase::Cold), CaseGap::None);
    QCOMPARE(gapOf(plain, RunCase::SameOrder), CaseGap::None);
    QCOMPARE(gapOf(plain, RunCase::Swapped), CaseGap::NoPlus);
    QCOMPARE(gapOf(plain, RunCase::Floor), CaseGap::NoPlus);
    const query::Node single =
        read(R"({"g":{"model":"m","input":{"cross":[{"plus":[{"user":"a"}]},{"user":"q"}]}}})");
    QCOMPARE(gapOf(single, RunCase::Swapped), CaseGap::NothingToSwap);
    QCOMPARE(gapOf(single, RunCase::Floor), CaseGap::None);
    const query::Node bare = read(R"({"g":{"model":"m","input":{"plus":[{"user":"a"},{"user":"b"}]}}})");
    QCOMPARE(gapOf(bare, RunCase::Swapped), CaseGap::None);
    QCOMPARE(gapOf(bare, RunCase::Floor), CaseGap::NothingLeft);
    QVERIFY_EXCEPTION_THROWN(planCases(read(R"({"user":"hello"})"), {}), Failure);
  }

  void countsAreExact() {
    Bench bench;
    QVERIFY(bench.measure(example(QStringLiteral("rag.json")), 2));
    QCOMPARE(bench.turns.size(), std::size_t(2));
    const std::vector<CaseSummary> cases = summarizeTurns(bench.turns);
    QCOMPARE(cases.size(), kRunCases.size());
    for (const CaseSummary& each : cases) {
      QCOMPARE(each.samples, std::size_t(2));
      // Every turn finds the same.
      QCOMPARE(each.cached.least, each.cached.most);
      QCOMPARE(each.relocated.least, each.relocated.most);
      QCOMPARE(each.cached.least + each.computed.least, each.prompt.least);
      QVERIFY(each.firstToken.least() > 0);
      QVERIFY(each.firstToken.least() <= each.firstToken.median);
      QVERIFY(each.firstToken.median <= each.firstToken.most());
      QVERIFY(each.whole.median >= each.firstToken.median);
      QVERIFY(each.peakBlocks > 0);
    }
    const CaseSummary& cold = cases[at(RunCase::Cold)];
    QCOMPARE(cold.prompt.least, std::int64_t(83));
    QCOMPARE(cold.cached.most, std::int64_t(0));
    QCOMPARE(cold.otherAnswers, std::size_t(0));
    QCOMPARE(QString::fromStdString(cold.answer), QStringLiteral("The pet of Tarek is Biscuit."));
    // The last token is always computed.
    const CaseSummary& same = cases[at(RunCase::SameOrder)];
    QCOMPARE(same.computed.most, std::int64_t(1));
    QCOMPARE(same.relocated.most, std::int64_t(0));
    QCOMPARE(same.answer, cold.answer);
    // All but the question is there, the outer two documents at other places.
    const CaseSummary& swapped = cases[at(RunCase::Swapped)];
    QCOMPARE(swapped.computed.most, std::int64_t(13));
    QVERIFY(swapped.relocated.least > 0);
    QVERIFY(swapped.relocated.most < swapped.cached.least);
    QCOMPARE(swapped.answer, cold.answer);
    const CaseSummary& floor = cases[at(RunCase::Floor)];
    QVERIFY(floor.prompt.most < swapped.prompt.least);
    QCOMPARE(floor.computed.most, std::int64_t(13));
    QCOMPARE(floor.relocated.most, std::int64_t(0));
  }

  void stepsOfAQueryAreAllCounted() {
    Bench bench;
    QVERIFY(bench.measure(example(QStringLiteral("judge-2.json")), 1));
    const RepeatTurn& turn = bench.turns.front();
    const RunSample& cold = *turn[at(RunCase::Cold)];
    const RunSample& swapped = *turn[at(RunCase::Swapped)];
    // The judge finds what the steps before it computed, even in a cold run.
    QVERIFY(cold.measured.cachedTokens > 0);
    QVERIFY(cold.lastTimeToFirstToken.has_value());
    QVERIFY(swapped.measured.relocatedTokens > 0);
    QVERIFY(swapped.measured.computedTokens < cold.measured.computedTokens);
  }

  void withoutAPlusTwoCasesAreLeft() {
    Bench bench;
    QVERIFY(bench.measure(example(QStringLiteral("chat.json")), 1));
    const std::vector<CaseSummary> cases = summarizeTurns(bench.turns);
    QCOMPARE(cases.size(), std::size_t(2));
    QCOMPARE(cases[0].runCase, RunCase::Cold);
    QCOMPARE(cases[1].runCase, RunCase::SameOrder);
  }

  void stopKeepsTheTurnsThatEnded() {
    Bench bench;
    std::stop_source stop;
    RepeatWatch watch;
    watch.runs = [&stop](std::int32_t turn, RunCase runCase) {
      if (turn == 2 && runCase == RunCase::Swapped) stop.request_stop();
    };
    QVERIFY(!bench.measure(example(QStringLiteral("rag.json")), 5, watch, stop.get_token()));
    QCOMPARE(bench.turns.size(), std::size_t(1));
    // The session goes on.
    bench.turns.clear();
    QVERIFY(bench.measure(example(QStringLiteral("rag.json")), 1));
    QCOMPARE(bench.turns.front()[at(RunCase::Cold)]->measured.cachedTokens, std::int64_t(0));
    QCOMPARE(bench.turns.front()[at(RunCase::Swapped)]->measured.computedTokens, std::int64_t(13));
  }

  void failedRunsThrow() {
    run::SessionConfig config;
    config.blockCount = 4;
    Bench bench(config);
    QVERIFY_EXCEPTION_THROWN(bench.measure(example(QStringLiteral("rag.json")), 1), Failure);
    QVERIFY(bench.turns.empty());
  }

  void otherPoliciesFindWhatTheyCan() {
    Bench bench;
    bench.options.policy = *policy::findPolicy("prefix");
    QVERIFY(bench.measure(example(QStringLiteral("rag.json")), 1));
    const RepeatTurn& turn = bench.turns.front();
    // The longest common prefix ends where the first document began.
    QCOMPARE(turn[at(RunCase::Swapped)]->measured.relocatedTokens, std::int64_t(0));
    QVERIFY(turn[at(RunCase::Swapped)]->measured.computedTokens > 60);
  }

  void timesAreComparedByTheirSpreads() {
    const Summary slow = summarize({9, 10, 11});
    QCOMPARE(compareTimes(slow, summarize({1, 2, 3})).standing, Standing::Faster);
    QCOMPARE(compareTimes(slow, summarize({1, 2, 3})).factor, 5.0);
    QCOMPARE(compareTimes(summarize({1, 2, 3}), slow).standing, Standing::Slower);
    QCOMPARE(compareTimes(slow, summarize({1, 2, 9.5})).standing, Standing::Unclear);
    QCOMPARE(compareTimes(slow, summarize({1, 2})).standing, Standing::TooFew);
    // Among many, one disturbed run does not count.
    QCOMPARE(compareTimes(slow, summarize({1, 1, 9.5, 1, 1})).standing, Standing::Faster);
    QCOMPARE(compareTimes(slow, summarize({1, 9.5, 9.5, 1, 1})).standing, Standing::Unclear);
    QCOMPARE(compareTimes({}, slow).standing, Standing::TooFew);
  }
};

SPANSCOPE_TEST(tst_repeat_run, TestRepeatRun)
#include "tst_repeat_run.moc"
