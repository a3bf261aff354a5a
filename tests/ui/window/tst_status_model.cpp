// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/session/run_history.h"
#include "ui/session/run_list.h"
#include "ui/session/token_account.h"
#include "ui/window/status_line.h"
#include "ui/words/metric_words.h"

#include <QCoreApplication>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

QString pool() {
  return QStringLiteral("%1 15 of 511").arg(metricShortName("pool-blocks"));
}

QString cached(int tokens) {
  return metricPhrase("cached-tokens", QStringLiteral("%1 of 204").arg(tokens));
}

}  // namespace

class TestStatusModel : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void text_data() {
    QTest::addColumn<StatusModel>("status");
    QTest::addColumn<QString>("text");
    StatusModel status;
    QTest::newRow("nothing") << status << worded("<nothing-run-yet>");
    status.run = 1;
    QTest::newRow("running") << status << QStringLiteral("Run 1 running");
    status.failed = 1;
    QTest::newRow("a step has failed") << status << QStringLiteral("Run 1 running     1 step failed");
    status.failed = 0;
    status.read = 1024;
    status.toRead = 3200;
    QTest::newRow("reading") << status
                             << QStringLiteral("Run 1 running     read 1024 of 3200 tokens (32\u00A0%)");
    status.event = 71;
    status.events = 96;
    QTest::newRow("looking back") << status
                                  << QStringLiteral(
                                         "Earlier state: event 71 of 96     Run 1 was running     read 1024 "
                                         "of 3200 tokens (32\u00A0%)");
    status = StatusModel();
    status.event = 1;
    status.events = 96;
    QTest::newRow("before the first run") << status << QStringLiteral("Earlier state: event 1 of 96");
    status = StatusModel();
    status.run = 1;
    status.outcome = spanscope::trace::RunOutcome::Finished;
    status.timeToFirstToken = 0.0459;
    status.interTokenLatency = 0.0014;
    status.promptTokens = 204;
    status.cachedTokens = 0;
    status.blocksInUse = 15;
    status.blocks = 511;
    const QString gap(5, QLatin1Char(' '));
    QTest::newRow("first") << status
                           << QStringList{QStringLiteral("Run 1 finished"),
                                          metricPhrase("time-to-first-token", 0.0459),
                                          metricPhrase("inter-token-latency", 0.0014), cached(0), pool()}
                                  .join(gap);
    status.run = 2;
    status.timeToFirstToken = 0.0031;
    status.previous.run = 1;
    status.previous.isCold = true;
    status.previousTimeToFirstToken = 0.0459;
    status.cachedTokens = 176;
    QTest::newRow("faster") << status
                            << QStringList{QStringLiteral("Run 2 finished"),
                                           metricPhrase("time-to-first-token", 0.0031) +
                                               QStringLiteral(", 15× faster than run 1 (cold)"),
                                           metricPhrase("inter-token-latency", 0.0014), cached(176), pool()}
                                   .join(gap);
    StatusModel laidOut;
    laidOut.run = 4;
    laidOut.promptTokens = 204;
    laidOut.cachedTokens = 102;
    laidOut.accountWords =
        accountWords({.hit = 102, .computed = 86, .again = 16, .padding = 30, .delimiters = 4, .cropped = 5});
    QTest::newRow("every column of the account")
        << laidOut
        << QStringList{QStringLiteral("Run 4 running"),
                       (QStringList{cached(102)} + laidOut.accountWords).join(QStringLiteral(", "))}
               .join(gap);
    StatusModel slower;
    slower.run = 3;
    slower.outcome = spanscope::trace::RunOutcome::Stopped;
    slower.previous.run = 2;
    slower.timeToFirstToken = 0.2;
    slower.previousTimeToFirstToken = 0.1;
    QTest::newRow("slower") << slower
                            << QStringList{QStringLiteral("Run 3 stopped"),
                                           metricPhrase("time-to-first-token", 0.2) +
                                               QStringLiteral(", 2.0× slower than run 2")}
                                   .join(gap);
  }

  /// Another document's run fills the pool later. That is no figure of the run before.
  void poolIsThatOfTheRun() {
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    const StatusModel alone = makeStatusModel(recorder.recorded().input());
    recorder.run(test::exampleDocument("judge-2.json"));
    const test::Recorded both = recorder.recorded();
    ViewInput input = both.input();
    RunHistory history;
    for (const auto& [id, run] : input.trace->newest().progress().runs)
      history.begin({.run = id, .trace = input.trace}, *run.queryJson);
    input.records = history.records();
    const std::size_t all = makeStatusModel(input).blocksInUse;
    input.paths.erase(2);
    const StatusModel first = makeStatusModel(input);
    QCOMPARE(first.run, RunId(1));
    QVERIFY(alone.blocksInUse < all);
    QCOMPARE(first.blocksInUse, alone.blocksInUse);
    QCOMPARE(makeStatusModel(both.input()).blocksInUse, all);
  }

  /// The cache was emptied before another document's run. The run before still has its own pool.
  void poolIsThatBeforeTheCacheWasEmptied() {
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    const StatusModel alone = makeStatusModel(recorder.recorded().input());
    recorder.clearCache();
    // Until another run, the emptied pool is the newest state.
    QCOMPARE(makeStatusModel(recorder.recorded().input()).blocksInUse, std::size_t{0});
    recorder.run(test::exampleDocument("judge-2.json"));
    const test::Recorded both = recorder.recorded();
    ViewInput input = both.input();
    RunHistory history;
    for (const auto& [id, run] : input.trace->newest().progress().runs)
      history.begin({.run = id, .trace = input.trace}, *run.queryJson);
    input.records = history.records();
    input.paths.erase(2);
    const StatusModel first = makeStatusModel(input);
    QCOMPARE(first.run, RunId(1));
    QVERIFY(first.blocksInUse > 0);
    QCOMPARE(first.blocksInUse, alone.blocksInUse);
  }

  /// Runs of an earlier session are in the lists, so it is not said that nothing ran.
  void keptRunsAreKnown() {
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    const test::Recorded earlier = recorder.recorded();
    const test::Recorded now = test::RunRecorder().recorded();
    ViewInput input = now.input();
    const QString nothing = statusText(makeStatusModel(input));
    RunHistory history;
    const std::shared_ptr<const TraceStore> trace = earlier.input().trace;
    history.begin({.run = 1, .trace = trace}, *trace->newest().progress().runs.at(1).queryJson);
    input.records = history.records();
    input.paths = earlier.input().paths;
    const StatusModel status = makeStatusModel(input);
    QCOMPARE(status.run, RunId(0));
    QVERIFY(status.anyKept);
    QVERIFY(statusText(status) != nothing);
  }

  /// What the first run leaves in the cache makes the second one warm.
  void baseOfAComparison() {
    test::RunRecorder recorder;
    for (int i = 0; i < 3; ++i) recorder.run(test::exampleDocument("rag.json"));
    const test::Recorded recorded = recorder.recorded();
    const ViewInput input = recorded.input();
    const std::vector<ListedRun> runs = listRuns(input);
    QCOMPARE(runs.size(), std::size_t(3));
    const RunBasis first = basisOf(runs[0]);
    const RunBasis second = basisOf(runs[1]);
    const RunBasis third = basisOf(runs[2]);
    QVERIFY(first.isCold);
    QVERIFY(!second.isCold);
    QVERIFY(!isLike(second, first));
    QVERIFY(isLike(third, second));
    QVERIFY(baseName(second, first) != baseName(third, {.run = 1, .queryJson = third.queryJson}));
    // A swap is another order, and a change of a text is another query.
    const auto basis = [](RunId run, const char* query) {
      return RunBasis{.run = run, .queryJson = std::string(query)};
    };
    const RunBasis written = basis(1, R"({"plus":[{"user":"ab"},{"user":"ba"},{"user":"c"}]})");
    const RunBasis swapped = basis(2, R"({"plus":[{"user":"c"},{"user":"ba"},{"user":"ab"}]})");
    const RunBasis changed = basis(3, R"({"plus":[{"user":"ab"},{"user":"ab"},{"user":"c"}]})");
    QVERIFY(product_text::says(baseName(swapped, written), "<base-other-order>"));
    QVERIFY(!product_text::says(baseName(changed, written), "<base-other-order>"));
    ListedRun unread = runs[0];
    unread.trace = nullptr;
    QVERIFY(basisOf(unread).isCold);
    unread.run = 2;
    QVERIFY(!basisOf(unread).isCold);
    QVERIFY(makeStatusModel(input).previous == second);
  }

  void text() {
    QFETCH(StatusModel, status);
    QFETCH(QString, text);
    QCOMPARE(statusText(status), text);
  }
};

SPANSCOPE_TEST(tst_status_model, TestStatusModel, QCoreApplication)
#include "tst_status_model.moc"
