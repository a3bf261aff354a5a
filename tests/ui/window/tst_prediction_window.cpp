// SPDX-License-Identifier: GPL-3.0-or-later
// What-if in the window: a change of the document changes the prediction, and the run then has its counts.
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/run_list.h"
#include "ui/views/block_table/block_table_model.h"
#include "ui/views/compare/compare_model.h"
#include "ui/views/prediction/prediction_view.h"
#include "ui/window/status_line.h"

#include <QObject>
#include <QPushButton>
#include <QSignalSpy>
#include <QString>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <memory>
#include <vector>
using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

document::NodeId plusOf(const document::Document& document) {
  for (const document::NodeId id : document.ids()) {
    const auto* join = document.at(id).own.as<query::Join>();
    if (join != nullptr && join->kind == query::JoinKind::Plus) return id;
  }
  return document::kNoNode;
}

}  // namespace

class TestPredictionWindow : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  Workspace& workspace() { return m_window->workspace(); }
  const trace::Progress& progress() { return workspace().input().state().progress(); }

  /// Changes the document and waits for the prediction of the changed document.
  template <class Change>
  void change(Change change) {
    QSignalSpy shown(&workspace(), &Workspace::inputChanged);
    QVERIFY(workspace().model()->change(QStringLiteral("Change"), change));
    QVERIFY(shown.wait(kPatience));
    QVERIFY(workspace().input().prediction.isPending);
    QTRY_VERIFY_WITH_TIMEOUT(!workspace().input().prediction.isPending, kPatience);
  }
  void run() {
    QSignalSpy ended(&workspace(), &Workspace::jobEnded);
    m_window->perform(QStringLiteral("run.run"));
    QVERIFY(!ended.isEmpty() || ended.wait(kPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QSignalSpy shown(&workspace(), &Workspace::inputChanged);
    QVERIFY(shown.wait(kPatience));
    QVERIFY(!progress().runs.empty() && progress().runs.rbegin()->second.outcome);
  }
  const run::Prediction& prediction() { return workspace().input().prediction.newest->present; }
  const PredictionTable& shownTable() {
    auto* view =
        qobject_cast<PredictionView*>(m_window->docks().dock(QStringLiteral("prediction"))->openView());
    return view->model().table();
  }

  void takeForetoldPictures() {
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (folder.isEmpty()) return;
    QTest::qWait(300);
    QVERIFY(m_window->grab().save(folder + QStringLiteral("/foretold.png")));
  }

  /// With SPANSCOPE_PICTURES set to a folder, the pictures stay there to be looked at.
  void takePicture() {
    const QString folder = qEnvironmentVariable("SPANSCOPE_PICTURES");
    if (folder.isEmpty()) return;
    for (const Scheme scheme : {Scheme::Light, Scheme::Dark}) {
      m_window->setScheme(scheme);
      QTest::qWait(200);
      m_window->canvas().perform(QStringLiteral("view.fit-all"));
      QTest::qWait(200);
      const QString name = scheme == Scheme::Dark ? QStringLiteral("dark") : QStringLiteral("light");
      QVERIFY(m_window->grab().save(folder + QStringLiteral("/what-if-") + name + QStringLiteral(".png")));
    }
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show());
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.explain"));
    m_window->perform(QStringLiteral("view.dock:prediction"));
    QTRY_VERIFY_WITH_TIMEOUT(
        workspace().input().prediction.newest && !workspace().input().prediction.isPending, kPatience);
  }
  void cleanup() {
    m_window = nullptr;
    m_fresh.reset();
  }

  /// Run, move a document, read the prediction, run: the numbers are the same.
  void theRunHasTheCountsOfThePrediction() {
    QCOMPARE(rangeText(shownTable().totals.computed), QStringLiteral("83"));
    run();
    QTRY_COMPARE(rangeText(shownTable().totals.computed), QStringLiteral("1"));
    change([](document::Document& document) { document::moveChild(document, plusOf(document), 0, 2); });
    const run::StepPrediction step = prediction().steps.at(0);
    QVERIFY(step.doubt == run::Doubt::None);
    QTRY_COMPARE(shownTable().totals.relocated, step.relocated);
    QCOMPARE(changedText(shownTable().computedBefore, shownTable().totals.computed),
             QStringLiteral("1 → 13"));
    takePicture();
    run();
    const trace::StepMetrics ran = *progress().requests.rbegin()->second.metrics;
    QCOMPARE(ran.promptTokens, step.prompt.least);
    QCOMPARE(ran.cachedTokens, step.cached.least);
    QCOMPARE(ran.relocatedTokens, step.relocated.least);
    QCOMPARE(ran.computedTokens, step.computed.least);
    QVERIFY(step.relocated.least > 0);
  }

  /// Cross instead of plus: each document then sees those before it, so that moving one costs those after it.
  void crossCostsMoreThanPlus() {
    run();
    change([](document::Document& document) { document::moveChild(document, plusOf(document), 0, 2); });
    const std::int64_t asPlus = prediction().steps.at(0).computed.least;
    change([](document::Document& document) {
      const document::NodeId plus = plusOf(document);
      document.edit(plus).own = {query::Join{.kind = query::JoinKind::Cross, .children = {}}};
    });
    const run::CountRange asCross = prediction().steps.at(0).computed;
    QVERIFY(asCross.least > asPlus);
    QTRY_VERIFY(shownTable().computedBefore && shownTable().computedBefore->least == asPlus);
    run();
    QCOMPARE(progress().requests.rbegin()->second.metrics->computedTokens, asCross.least);
  }

  /// Another block size means another session: all of it is computed again, and that is said.
  void blockSizeStartsOver() {
    run();
    QTRY_COMPARE(rangeText(shownTable().totals.computed), QStringLiteral("1"));
    change([](document::Document& document) { document.settings.blockSize = 8; });
    QTRY_COMPARE(rangeText(shownTable().totals.computed), QStringLiteral("83"));
    QVERIFY(shownTable().cache.contains(QStringLiteral("empty")));
    run();
    QCOMPARE(progress().requests.rbegin()->second.metrics->computedTokens, std::int64_t{83});
  }

  /// During a prediction, a run starts at once.
  void runningDoesNotWait() {
    workspace().model()->change(QStringLiteral("Change"),
                                [](document::Document& document) { document.settings.seed = 7; });
    run();
    QTRY_VERIFY_WITH_TIMEOUT(!workspace().input().prediction.isPending, kPatience);
    QCOMPARE(prediction().steps.at(0).computed.most, std::int64_t{1});
  }

  /// The cache simulator at a place of the prediction reports the events of its cache: a run that is drawn as
  /// others are.
  void aServersBlocksAreShownAsARun() {
    run();
    const RunId ran = workspace().shownRun();
    change([](document::Document& document) { document::moveChild(document, plusOf(document), 0, 2); });
    auto* view =
        qobject_cast<PredictionView*>(m_window->docks().dock(QStringLiteral("prediction"))->openView());
    QVERIFY(!view->canTrace());
    QVERIFY(view->blocksButton().isHidden());
    view->showPlace(QStringLiteral("vllm"));
    QTRY_VERIFY_WITH_TIMEOUT(view->canTrace(), kPatience);
    QVERIFY(!view->blocksButton().isHidden());
    QTRY_VERIFY(!view->model().table().steps.empty());
    QSignalSpy reported(view, &PredictionView::predicted);
    view->blocksButton().click();
    QVERIFY(reported.wait(kPatience));
    const RunId predicted = workspace().shownRun();
    QVERIFY(predicted > ran);
    QVERIFY(workspace().traces().isPredicted(predicted) && !workspace().traces().isPredicted(ran));
    // It is drawn by what draws all runs.
    const ViewInput& input = workspace().input();
    QCOMPARE(QString::fromStdString(input.state().progress().program),
             QStringLiteral("vLLM 0.33.0 (cache simulator)"));
    QVERIFY(input.trace->contradictions().empty());
    const trace::RunState& state = input.state().progress().runs.at(predicted);
    const std::int64_t found = input.state().progress().requests.at(state.requests.front()).cachedTokens;
    // Until the cache simulator has answered for the changed query, the table shows its earlier result.
    QTRY_COMPARE_WITH_TIMEOUT(view->model().table().totals.cached.least, found, kPatience);
    QVERIFY(input.reported.of(Fact::StepTimes) == Reporting::CannotBeReported);
    QVERIFY(input.reported.of(Fact::Pool) == Reporting::Reported);
    BlockHistory history;
    history.follow(input.trace);
    const BlockTable table = blockTable(input, history);
    QCOMPARE(table.rows.size(), std::size_t{2});
    QCOMPARE(table.rows.back().run, predicted);
    QVERIFY(table.rows.back().parts.size() > 1);
    // In the list it is marked, and the query before it is not listed a second time.
    const std::vector<ListedRun> runs = listRuns(input, true);
    QCOMPARE(runs.size(), std::size_t{2});
    QCOMPARE(runs.back().policyText(), worded("vLLM<policy-predicted>"));
    QVERIFY(runs.back().isOwn);
    const CompareModel compared = compareModel(input, ran, predicted);
    const auto whole = std::find_if(compared.rows.begin(), compared.rows.end(), [](const CompareRow& row) {
      return row.id == std::string_view("whole-run");
    });
    QVERIFY(whole != compared.rows.end());
    QCOMPARE(whole->right, worded("<time-not-predicted>"));
    QVERIFY(whole->left != whole->right);
    // All of its prompt is accounted for.
    const metrics::PromptAccount account = accountOf(runs.back());
    QCOMPARE(account.prompt.cached(), found);
    QCOMPARE(account.unread, std::int64_t{0});
    QVERIFY(account.prompt.computed > 0);
    QVERIFY(statusText(makeStatusModel(input)).contains(worded("<run-predicted>")));
    // Nothing was run: the caches of others have had one query.
    const std::vector<workbench::SentQuery> sent = sentQueries(*input.records);
    QCOMPARE(sent.size(), std::size_t{1});
    QCOMPARE(sent.front().run, ran);
    takeForetoldPictures();
    // Kept runs are those that were run.
    workspace().traces().keepRuns(m_fresh->path(QStringLiteral("kept")));
    m_window->perform(QStringLiteral("run.remove-predicted"));
    QVERIFY(workspace().history().find(predicted) == nullptr);
    QCOMPARE(listRuns(workspace().input(), true).size(), std::size_t{1});
    QVERIFY(workspace().shownRun() == ran);
    QVERIFY(!workspace().traces().removePredicted(ran));
    // The next run has a number of its own.
    run();
    QVERIFY(workspace().shownRun() > predicted);
  }

  /// With an empty cache, only the current query is shown.
  void fromAnEmptyCache() {
    run();
    auto* view =
        qobject_cast<PredictionView*>(m_window->docks().dock(QStringLiteral("prediction"))->openView());
    view->showPlace(QStringLiteral("sglang"));
    view->setAgainst(Against::Empty);
    QTRY_VERIFY_WITH_TIMEOUT(view->canTrace(), kPatience);
    QSignalSpy reported(view, &PredictionView::predicted);
    m_window->perform(QStringLiteral("run.show-predicted"));
    QVERIFY(reported.wait(kPatience));
    QCOMPARE(progress().runs.size(), std::size_t{1});
    QCOMPARE(progress().requests.begin()->second.cachedTokens, std::int64_t{0});
    // A run replaces it.
    run();
    QVERIFY(!workspace().traces().isPredicted(workspace().shownRun()));
    QCOMPARE(workspace().input().replay.origin, TraceOrigin::Session);
  }

  /// A recorded run shows no prediction, and a closed tab leaves none.
  void otherTabs() {
    run();
    const QString path = m_fresh->path(QStringLiteral("saved.trace"));
    QCOMPARE(workspace().saveTrace(path), QString());
    QVERIFY(m_window->openFile(path));
    QVERIFY(!workspace().input().prediction.newest && !workspace().input().prediction.isPending);
    m_window->perform(QStringLiteral("file.close"));
    QTRY_VERIFY_WITH_TIMEOUT(
        workspace().input().prediction.newest && !workspace().input().prediction.isPending, kPatience);
    m_window->perform(QStringLiteral("file.close"));
    QVERIFY(!workspace().input().prediction.newest);
  }
};

SPANSCOPE_TEST(tst_prediction_window, TestPredictionWindow, QApplication)
#include "tst_prediction_window.moc"
