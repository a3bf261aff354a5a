// SPDX-License-Identifier: GPL-3.0-or-later
// A benchmark in the window: started in its dock, kept with its tab, and gone past by edits.
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/job_estimate.h"
#include "ui/session/measure_requests.h"
#include "ui/session/measured_jobs.h"
#include "ui/views/benchmark/benchmark_view.h"
#include "ui/window/engine_jobs.h"

#include <QLabel>
#include <QList>
#include <QObject>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStatusBar>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

}  // namespace

class TestBenchmarkWindow : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  Workspace& workspace() { return m_window->workspace(); }
  BenchmarkView& view() {
    return *qobject_cast<BenchmarkView*>(m_window->docks().dock(QStringLiteral("benchmark"))->openView());
  }
  /// nullptr: there is none.
  const MeasuredJob* job() { return findMeasured(workspace().input().measured, jobs::BenchmarkJob::kId); }
  std::shared_ptr<const Benchmark> benchmark() {
    return measured<jobs::BenchmarkJob>(workspace().input().measured);
  }
  bool hasEnded() { return job() != nullptr && !job()->isRunning(); }
  bool hasTurns() { return benchmark() && !benchmark()->turns.empty(); }
  /// Whether this number of runs is in the input, all of them ended.
  bool hasShownRuns(std::size_t count) {
    const auto& runs = workspace().input().state().progress().runs;
    return runs.size() == count && std::all_of(runs.begin(), runs.end(), [](const auto& run) {
             return run.second.outcome.has_value();
           });
  }
  bool isOutdated() {
    const auto& remarks = view().model().remarks;
    return std::any_of(remarks.begin(), remarks.end(), [](const BenchmarkRemark& remark) {
      return remark.text.contains(worded("<measured-before-last-edit>"));
    });
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    QVERIFY(m_fresh->show());
    m_window = &m_fresh->window();
  }
  void cleanup() { m_fresh.reset(); }

  void theCommandShowsTheDock() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.benchmark"));
    QTRY_VERIFY(view().isVisible());
    QVERIFY(!benchmark());
    QVERIFY(workspace().engine().state() != EngineState::Running);
    // One more key starts it.
    QCOMPARE(m_window->focusWidget(), view().findChild<QPushButton*>());
  }

  void aQueryIsMeasuredAndKeptWithItsTab() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    QSignalSpy ended(&workspace(), &Workspace::jobEnded);
    m_window->perform(QStringLiteral("run.run"));
    QVERIFY(!ended.isEmpty() || ended.wait(kPatience));
    QTRY_VERIFY(hasShownRuns(1));
    const std::size_t events = workspace().input().trace->size();

    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.benchmark"));
    view().findChild<QSpinBox*>()->setValue(3);
    QTest::mouseClick(view().findChild<QPushButton*>(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    const std::shared_ptr<const Benchmark> measured = benchmark();
    QCOMPARE(job()->problem, QString());
    QCOMPARE(measured->turns.size(), std::size_t(3));
    QTRY_COMPARE(view().model().table.rows.size(), std::size_t(4));
    QVERIFY(!isOutdated());
    // The runs that were measured are no runs of the document: its trace has the result alone.
    QCOMPARE(workspace().history().records()->size(), std::size_t(1));
    QCOMPARE(workspace().input().trace->size(), events + 1);
    QVERIFY(std::holds_alternative<trace::JobEnded>(workspace().input().trace->events().back().payload));
    QTRY_VERIFY_WITH_TIMEOUT(!workspace().input().prediction.isPending, kPatience);

    // One figure is one figure: a run of the document finds what the benchmark's did.
    ended.clear();
    m_window->perform(QStringLiteral("run.run"));
    QVERIFY(!ended.isEmpty() || ended.wait(kPatience));
    const auto& same = *measured->turns.front()[static_cast<std::size_t>(experiment::RunCase::SameOrder)];
    QTRY_VERIFY(hasShownRuns(2));
    const trace::RequestState request = workspace().input().state().progress().requests.rbegin()->second;
    QCOMPARE(same.measured.cachedTokens, request.cachedTokens);
    QCOMPARE(same.measured.computedTokens, request.computedTokens);

    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    QTRY_VERIFY(!view().model().isKnown);
    workspace().setCurrent(workspace().documents().front().get());
    QTRY_VERIFY(view().model().isKnown);
    QVERIFY(benchmark() == measured);
    workspace().model()->change(QStringLiteral("Seed"),
                                [](document::Document& document) { document.settings.seed = 77; });
    QTRY_VERIFY(isOutdated());
    workspace().model()->settingsUndoStack().undo();
    QTRY_VERIFY(!isOutdated());
  }

  /// Before it is started, the page says how long it takes; while it runs, how long the rest does.
  void theTimeIsForetold() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.benchmark"));
    const auto said = [this](const QString& words) {
      const QList<QLabel*> labels = view().findChildren<QLabel*>();
      return std::any_of(labels.begin(), labels.end(),
                         [&](const QLabel* label) { return label->text().contains(words); });
    };
    QTRY_VERIFY_WITH_TIMEOUT(said(worded("<duration-needs-answer>")), kPatience);
    QSignalSpy ended(&workspace(), &Workspace::jobEnded);
    m_window->perform(QStringLiteral("run.run"));
    QVERIFY(!ended.isEmpty() || ended.wait(kPatience));
    QTRY_VERIFY_WITH_TIMEOUT(said(QStringLiteral("Takes ")), kPatience);
    const auto times = [this] {
      const ViewInput& input = workspace().input();
      const auto timeOf = [&input](BenchmarkKind kind, std::int32_t repeats) {
        return estimateText(input, jobs::callOf<jobs::BenchmarkJob>({.kind = kind, .repeats = repeats}));
      };
      return std::pair(timeOf(BenchmarkKind::Query, 1), timeOf(BenchmarkKind::Lengths, 100));
    };
    QVERIFY(times().first.startsWith(QStringLiteral("Takes ")));
    QVERIFY(times().second.startsWith(QStringLiteral("Takes ")));
    QVERIFY(estimateText(workspace().input(),
                         jobs::callOf<jobs::PolicyComparisonJob>({.policies = {"spans", "prefix"}}))
                .startsWith(QStringLiteral("Takes ")));

    m_window->perform(QStringLiteral("run.benchmark:query:100"));
    QTRY_VERIFY_WITH_TIMEOUT(said(QStringLiteral(" left: Benchmark: turn ")), kPatience);
    m_window->perform(QStringLiteral("run.stop"));
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(said(QStringLiteral("Takes ")), kPatience);
  }

  void stopKeepsWhatEnded() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.benchmark:query:100"));
    QTRY_VERIFY_WITH_TIMEOUT(hasTurns(), kPatience);
    // Meanwhile nothing else is measured.
    QVERIFY(!startJob(workspace(), benchmarkCall(workspace().model()->document(), {})).isEmpty());
    m_window->perform(QStringLiteral("run.stop"));
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->state, workbench::JobState::Stopped);
    QVERIFY(hasTurns());
  }

  /// Run stays on, and what it starts passes: its answer is there before the benchmark has ended.
  void runsPass() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.benchmark:query:100"));
    QTRY_VERIFY_WITH_TIMEOUT(hasTurns(), kPatience);
    QVERIFY(m_window->findChild<QPushButton*>(QStringLiteral("primary"))->isEnabled());
    m_window->perform(QStringLiteral("run.run"));
    const std::uint32_t tab = workspace().current()->id;
    EngineHost& engine = workspace().engine();
    QVERIFY(engine.isBusy(tab) && engine.isMeasuring(tab));
    QCOMPARE(engine.activity(tab), worded("<waits-next-step>"));
    QTRY_VERIFY_WITH_TIMEOUT(!engine.isBusy(tab), kPatience);
    QVERIFY(!hasEnded() && engine.isMeasuring(tab));
    QVERIFY(hasShownRuns(1));
    // The page's button stops what the page shows, also while a run goes on.
    m_window->perform(QStringLiteral("run.run"));
    QTest::mouseClick(view().findChild<QPushButton*>(), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(hasShownRuns(2), kPatience);
    QCOMPARE(job()->state, workbench::JobState::Stopped);
  }

  void retrievalIsDoneFirst() {
    QVERIFY(m_window->openExample(QStringLiteral("retrieve.yaml")));
    m_window->perform(QStringLiteral("run.benchmark:query:1"));
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->problem, QString());
    QCOMPARE(job()->state, workbench::JobState::Finished);
    const experiment::RepeatTurn turn = benchmark()->turns.front();
    const auto& cold = *turn[static_cast<std::size_t>(experiment::RunCase::Cold)];
    const auto& swapped = *turn[static_cast<std::size_t>(experiment::RunCase::Swapped)];
    QCOMPARE(cold.measured.cachedTokens, std::int64_t(0));
    QVERIFY(swapped.measured.relocatedTokens > 0);
    QTRY_VERIFY(view().model().isKnown && !isOutdated());
  }

  void whatCannotRunSaysWhy() {
    m_window->newDocument();
    m_window->perform(QStringLiteral("run.benchmark:query:3"));
    QVERIFY(m_window->statusBar()->currentMessage().contains(QStringLiteral("empty")));
    QVERIFY(!benchmark());
  }
};

SPANSCOPE_TEST(tst_benchmark_window, TestBenchmarkWindow, QApplication)
#include "tst_benchmark_window.moc"
