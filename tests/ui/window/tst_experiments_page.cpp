// SPDX-License-Identifier: GPL-3.0-or-later
// The page of experiments: chosen, filled in, run, stopped, drawn and exported, by mouse and by keyboard.
#include "engine/jobs/experiment.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/example_window.h"
#include "ui/session/load_comparison.h"
#include "ui/views/experiments/experiment_charts.h"
#include "ui/views/experiments/experiment_form.h"
#include "ui/views/experiments/experiments_view.h"

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QList>
#include <QObject>
#include <QPoint>
#include <QPushButton>
#include <QRect>
#include <QSet>
#include <QStatusBar>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

}  // namespace

class TestExperimentsPage : public QObject {
  Q_OBJECT

 private:
  /// Metric of the chart, if it is of this kind.
  template <class Drawn>
  const Drawn* shown() const {
    return std::get_if<Drawn>(&m_view->model().chart);
  }

  std::unique_ptr<test::ExampleWindow<ExperimentsView>> m_fresh;
  MainWindow* m_window = nullptr;     ///< its
  ExperimentsView* m_view = nullptr;  ///< its

  /// nullptr: there is none.
  const MeasuredJob* job() const {
    return findMeasured(m_window->workspace().input().measured, jobs::ExperimentJob::kId);
  }
  /// Null: nothing was measured.
  std::shared_ptr<const experiment::ExperimentResult> result() const {
    return measured<jobs::ExperimentJob>(m_window->workspace().input().measured);
  }
  bool hasEnded() const { return job() != nullptr && !job()->isRunning() && !m_view->model().isRunning; }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::ExampleWindow<ExperimentsView>>();
    QVERIFY(m_fresh->open("rag.json", "view.measure", "experiments"));
    m_window = &m_fresh->window();
    m_window->perform(QStringLiteral("run.experiment"));
    m_view = m_fresh->view();
  }
  void cleanup() {
    m_view = nullptr;
    m_window = nullptr;
    m_fresh.reset();
  }

  void runsAndDraws() {
    m_view->choose(QStringLiteral("rag"));
    QVERIFY(m_view->csv().isEmpty());
    m_view->setRequest(
        {.experiment = "rag", .values = {{"documents", "1,2"}, {"words", "12"}}, .repeats = 2});
    QVERIFY(m_view->runButton().isEnabled());
    QTest::keyClick(m_view->form().field(QStringLiteral("documents")), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->state, workbench::JobState::Finished);
    const ExperimentsModel& model = m_view->model();
    QTRY_COMPARE(model.table.rows.size(), result()->points.size());
    const auto* chart = shown<experiment::LineChart>();
    QVERIFY(chart != nullptr);
    QCOMPARE(chart->series.front().name, std::string("spans, empty cache"));
    QCOMPARE(chart->series.front().points.size(), std::size_t{2});
    QVERIFY(model.setup.contains(QStringLiteral("2 repeats, seed 0; words 12")));
    QVERIFY(m_view->csv().startsWith(QStringLiteral("experiment,model,machine")));
    QCOMPARE(m_view->runButton().text(), QStringLiteral("Run"));
  }

  /// A field that is too narrow for its list shows the beginning of the list.
  void aLongListShowsItsBeginning() {
    const auto& all = experiment::experiments();
    const auto found = std::ranges::find_if(all, [](const experiment::Experiment* one) {
      return std::ranges::any_of(experiment::fieldsOf(*one), [](const experiment::ExperimentField& field) {
        return std::string_view(field.key) == "policies";
      });
    });
    QVERIFY(found != all.end());
    ExperimentForm form;
    form.showExperiment(**found, 1);
    const QString list = QStringLiteral("spans,link(16),blend(0.15),shared-prefix,prefix");
    form.setValue(QStringLiteral("policies"), list);
    form.show();
    form.resize(320, 600);
    const QList<QLineEdit*> lines = form.findChildren<QLineEdit*>();
    const auto line = std::ranges::find(lines, list, &QLineEdit::text);
    QVERIFY(line != lines.end());
    QCOMPARE((*line)->cursorPosition(), 0);
  }

  /// Heat maps of two axes, read cell by cell with the keyboard.
  void mapsAreRead() {
    m_view->setRequest(
        {.experiment = "depth",
         .values = {{"hay", "10,20"}, {"portions", "0,2"}, {"depths", "0,100"}, {"documents", "4"}},
         .repeats = 2});
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->state, workbench::JobState::Finished);
    QTRY_VERIFY(shown<experiment::HeatChart>() != nullptr);
    QCOMPARE(shown<experiment::HeatChart>()->panels.size(), std::size_t{2});
    CellChart& map = m_view->heatMap();
    QTRY_VERIFY(map.isVisible());
    QTRY_COMPARE(map.count(), 8);
    map.setFocus();
    QTest::keyClick(&map, Qt::Key_Home);
    const QString first = map.readout();
    QVERIFY2(first.startsWith(worded("all at once, 10 <words-of-hay>, 0 depth, %: ")), qPrintable(first));
    QCOMPARE(map.itemText(0), first);
    QTest::keyClick(&map, Qt::Key_Right);
    QVERIFY2(map.readout().contains(QStringLiteral("20 words")), qPrintable(map.readout()));
    QTest::keyClick(&map, Qt::Key_Down);
    QVERIFY2(map.readout().contains(QStringLiteral("100 depth")), qPrintable(map.readout()));
    QTest::keyClick(&map, Qt::Key_End);
    QVERIFY2(map.readout().startsWith(QStringLiteral("k = 2")), qPrintable(map.readout()));
    QVERIFY(m_view->csv().startsWith(QStringLiteral("experiment,model,machine,line,x name,x,y name,y,")));
  }

  /// Whatever was measured can be drawn as lines, as a map, and as how its samples are spread.
  void everyChartIsThere() {
    m_view->setRequest({.experiment = "fidelity",
                        .values = {{"documents", "3,5"}, {"policies", "spans,prefix"}},
                        .repeats = 2});
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QTRY_VERIFY(shown<experiment::LineChart>() != nullptr);
    QTRY_COMPARE(shown<experiment::LineChart>()->series.size(), std::size_t{2});
    m_view->setChart(experiment::ChartKind::HeatMap);
    QTRY_COMPARE(m_view->heatMap().count(), 4);
    QVERIFY(m_view->heatMap().isVisible());
    m_view->setChart(experiment::ChartKind::Histograms, 5);
    const auto* histograms = shown<experiment::HistogramChart>();
    QVERIFY(histograms != nullptr);
    QCOMPARE(histograms->parts.size(), std::size_t{2});
    QCOMPARE(histograms->parts.front().total, std::size_t{2});
    QTRY_VERIFY(m_view->histograms().isVisible());
    m_view->setChart(experiment::ChartKind::Histograms);
    QCOMPARE(shown<experiment::HistogramChart>()->parts.front().total, std::size_t{4});
    QTest::keyClick(&m_view->histograms(), Qt::Key_Home);
    QVERIFY2(m_view->histograms().readout().contains(QStringLiteral("of 4 samples")),
             qPrintable(m_view->histograms().readout()));
  }

  /// What was measured of loading is there when the program starts again.
  void loadingIsRemembered() {
    m_window->perform(QStringLiteral("run.experiment:load;tokens=32;repeats=2"));
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->state, workbench::JobState::Finished);
    QCOMPARE(m_view->request().experiment, std::string("load"));
    QCOMPARE(m_view->form().field(QStringLiteral("tokens"))->text(), QStringLiteral("32"));
    const LoadComparisons loads = m_window->workspace().loads();
    QCOMPARE(loads.byModel.size(), std::size_t{1});
    QCOMPARE(loads.byModel.at("spanlet").timings.front().tokens, 32);
    m_view = nullptr;
    QVERIFY(m_fresh->reopen());
    m_window = &m_fresh->window();
    QCOMPARE(loadTexts(m_window->workspace().loads()), loadTexts(loads));
  }

  void isStopped() {
    m_view->setRequest({.experiment = "accuracy", .values = {}, .repeats = 1000});
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(result() && result()->done > 0, kPatience);
    QTRY_COMPARE(m_view->runButton().text(), QStringLiteral("Stop"));
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->state, workbench::JobState::Stopped);
    QTRY_VERIFY(!m_view->model().table.rows.empty());
    QCOMPARE(m_view->model().remarks.front(), worded("<experiment-stopped>"));
  }

  /// A run that is asked for meanwhile says that it waits for a step, and has ended before the experiment.
  void runsPass() {
    m_view->setRequest({.experiment = "accuracy", .values = {}, .repeats = 1000});
    m_view->runButton().click();
    Workspace& workspace = m_window->workspace();
    const std::uint32_t tab = workspace.current()->id;
    QTRY_VERIFY_WITH_TIMEOUT(workspace.engine().activity(tab).startsWith(QStringLiteral("Experiment: ")),
                             kPatience);
    QVERIFY(m_window->findChild<QPushButton*>(QStringLiteral("primary"))->isEnabled());
    m_window->perform(QStringLiteral("run.run"));
    QCOMPARE(workspace.engine().activity(tab), worded("<waits-experiment-step>"));
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy(tab), kPatience);
    QVERIFY(workspace.engine().isMeasuring(EngineJob::kProgram));
    QCOMPARE(workspace.current()->failure, QString());
    QCOMPARE(workspace.history().records()->size(), std::size_t{1});
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
  }

  void wrongValuesAreNotRun() {
    m_view->choose(QStringLiteral("rag"));
    QLineEdit* documents = m_view->form().field(QStringLiteral("documents"));
    const QString usual = documents->text();
    documents->setText(QStringLiteral("1,many"));
    QVERIFY(!m_view->runButton().isEnabled());
    QTest::keyClick(documents, Qt::Key_Return);
    QVERIFY(!result());
    documents->setText(usual);
    QVERIFY(m_view->runButton().isEnabled());
  }

  /// Tab goes from field to field and then on, out of the page; Backtab the other way.
  void tabLeavesTheFields() {
    m_view->choose(QStringLiteral("rag"));
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window));
    const QList<QLineEdit*> fields = m_view->findChild<ExperimentForm*>()->findChildren<QLineEdit*>();
    QVERIFY(fields.size() > 2);
    for (const Qt::Key key : {Qt::Key_Tab, Qt::Key_Backtab}) {
      fields.first()->setFocus();
      QSet<QWidget*> seen;
      int presses = 0;
      constexpr int kMostPresses = 60;
      while (m_view->isAncestorOf(QApplication::focusWidget()) && presses < kMostPresses) {
        seen.insert(QApplication::focusWidget());
        QTest::keyClick(QApplication::focusWidget(), key);
        ++presses;
      }
      QVERIFY2(presses < kMostPresses, qPrintable(QApplication::focusWidget()->accessibleName()));
      if (key != Qt::Key_Tab) continue;
      for (QLineEdit* field : fields) QVERIFY2(seen.contains(field), qPrintable(field->accessibleName()));
    }
  }

  /// Beside a lesson in a small window the dock is this narrow, and what is wider is cut off.
  void theButtonIsWholeInANarrowDock() {
    constexpr int kNarrow = 400;  // pixels
    for (const experiment::Experiment* one : experiment::experiments()) {
      m_view->choose(QString::fromUtf8(one->name));
      QTest::qWait(20);
      const QWidget& button = m_view->runButton();
      const QWidget& head = *button.parentWidget();
      QVERIFY2(head.minimumSizeHint().width() <= kNarrow,
               qPrintable(QStringLiteral("%1: %2")
                              .arg(QString::fromUtf8(one->name))
                              .arg(head.minimumSizeHint().width())));
    }
  }

  /// From the list of experiments down to the last field in the order of the page, and back again.
  void tabFollowsThePage() {
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window));
    m_window->resize(1440, 1400);
    const auto press = [](Qt::Key key) { QTest::keyClick(QApplication::focusWidget(), key); };
    const auto followed = [&] {
      const auto* form = m_view->findChild<ExperimentForm*>();
      const QList<QLineEdit*> fields = form->findChildren<QLineEdit*>();
      QList<QLineEdit*> shown;
      for (QLineEdit* field : fields)
        if (field->isVisible()) shown += field;
      std::sort(shown.begin(), shown.end(),
                [](const QLineEdit* one, const QLineEdit* other) { return one->y() < other->y(); });
      auto* list = m_view->focusProxy();
      list->setFocus(Qt::TabFocusReason);
      QList<QWidget*> order;
      constexpr int kMostPresses = 60;
      while (order.size() < kMostPresses && m_view->isAncestorOf(QApplication::focusWidget())) {
        order += QApplication::focusWidget();
        if (order.last() == shown.last()) break;
        press(Qt::Key_Tab);
      }
      QCOMPARE(order.last(), shown.last());
      for (qsizetype i = 1; i < order.size(); ++i) {
        const std::pair before(form->isAncestorOf(order[i - 1]), order[i - 1]->geometry());
        const std::pair now(form->isAncestorOf(order[i]), order[i]->geometry());
        const bool isSameRow = before.first == now.first && now.second.center().y() < before.second.bottom();
        const bool isNext = isSameRow ? now.second.x() > before.second.x()
                                      : now.first > before.first || now.second.y() > before.second.y();
        QVERIFY2(isNext, qPrintable(order[i - 1]->accessibleName() + QStringLiteral(" before ") +
                                    order[i]->accessibleName()));
      }
      for (QLineEdit* field : shown) QVERIFY2(order.contains(field), qPrintable(field->accessibleName()));
      QVERIFY(order.contains(&m_view->runButton()));
      for (qsizetype i = order.size() - 2; i >= 0; --i) {
        press(Qt::Key_Backtab);
        QCOMPARE(QApplication::focusWidget(), order[i]);
      }
      QCOMPARE(QApplication::focusWidget(), list);
    };
    for (const char* name : {"rag", "conversation", "judge", "rag"}) {
      m_view->choose(QLatin1String(name));
      QTest::qWait(50);
      followed();
    }
    // With what was measured, there are choices of how it is drawn.
    m_view->setRequest({.experiment = "rag",
                        .values = {{"documents", "1,2"}, {"words", "12"}, {"policies", "spans"}},
                        .repeats = 1});
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QTRY_VERIFY(!m_view->model().table.rows.empty());
    QTest::qWait(50);
    followed();
  }

  void wrongValuesMoveNothing_data() {
    QTest::addColumn<int>("width");
    QTest::addColumn<bool>("isMeasured");
    for (const int width : {1440, 1024, 800}) {
      QTest::addRow("%d", width) << width << false;
      QTest::addRow("%d, with results", width) << width << true;
    }
  }
  /// What is wrong is said where there was room for it, in every field and however narrow the page is.
  void wrongValuesMoveNothing() {
    QFETCH(const int, width);
    QFETCH(const bool, isMeasured);
    m_window->resize(width, 900);
    m_view->choose(QStringLiteral("rag"));
    if (isMeasured) {
      m_view->setRequest({.experiment = "rag",
                          .values = {{"documents", "1,2"}, {"words", "12"}, {"policies", "spans"}},
                          .repeats = 1});
      m_view->runButton().click();
      QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
      QTRY_VERIFY(!m_view->model().table.rows.empty());
    }
    QTest::qWait(100);
    const auto places = [&] {
      QList<QRect> rects;
      for (const QWidget* each : m_view->findChildren<QWidget*>()) {
        const bool isField = qobject_cast<const QLineEdit*>(each) != nullptr ||
                             qobject_cast<const QAbstractButton*>(each) != nullptr ||
                             qobject_cast<const QComboBox*>(each) != nullptr;
        if (isField && each->isVisible()) rects += QRect(each->mapTo(m_view, QPoint()), each->size());
      }
      return rects;
    };
    const QList<QRect> before = places();
    for (const char* key : {"documents", "words", "policies"}) {
      QLineEdit* field = m_view->form().field(QLatin1String(key));
      const QString usual = field->text();
      for (const QString& text :
           {QStringLiteral("x"), QStringLiteral("1,many"), QString(400, QLatin1Char('9')), usual}) {
        field->setText(text);
        QTest::qWait(30);
        QCOMPARE(m_view->runButton().isEnabled(), text == usual);
        QCOMPARE(places(), before);
      }
    }
    // The whole of it can be read.
    if (isMeasured) return;
    m_view->form().field(QStringLiteral("documents"))->setText(QStringLiteral("1,many"));
    const auto labels = m_view->findChildren<QLabel*>();
    const auto said = std::find_if(labels.begin(), labels.end(), [&](const QLabel* label) {
      return !m_view->said().isEmpty() && label->text() == m_view->said();
    });
    QVERIFY(said != labels.end());
    const QRect needed = (*said)->fontMetrics().boundingRect(QRect(0, 0, (*said)->width(), 1000),
                                                             Qt::TextWordWrap, (*said)->text());
    QVERIFY2(needed.height() <= (*said)->height(), qPrintable((*said)->text()));
  }

  /// A query that finds its documents when it runs: they are found before anything is measured, and the usual
  /// numbers of documents become those that there are documents for.
  void queriesThatRetrieve() {
    QVERIFY(m_window->openExample(QStringLiteral("retrieve.yaml")));
    m_view->choose(QStringLiteral("rag"));
    m_view->form().sourceChoice()->setCurrentIndex(1);
    QTRY_COMPARE(m_view->said(), worded("<document-count-unknown>"));
    m_view->form().field(QStringLiteral("policies"))->setText(QStringLiteral("spans"));
    QVERIFY(m_view->runButton().isEnabled());
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->problem, QString());
    const experiment::ExperimentRequest request = result()->request;
    QVERIFY(request.own != nullptr);
    const std::size_t found = request.own->count();
    QVERIFY(found > 1);
    QVERIFY2(request.values.at("documents").ends_with("," + std::to_string(found)),
             request.values.at("documents").c_str());
    QVERIFY(result()->points.size() >= 4);
    QTRY_VERIFY2(m_view->model().setup.contains(QStringLiteral("documents of “") +
                                                m_window->workspace().current()->model->title()),
                 qPrintable(m_view->model().setup));
    // More than were found is refused, with their number.
    m_view->form().field(QStringLiteral("documents"))->setText(QStringLiteral("2,50"));
    const QString expected = worded(QStringLiteral("1 to %1<documents-under-plus>").arg(found));
    QVERIFY(m_view->runButton().isEnabled());
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(job() != nullptr && !job()->problem.isEmpty(), kPatience);
    QVERIFY2(job()->problem.contains(expected), qPrintable(job()->problem));
  }

  /// The choice is there where it makes sense; numbers fit the documents, and what is measured are these.
  void documentsOfTheQuery() {
    m_view->choose(QStringLiteral("judge"));
    QVERIFY(m_view->form().sourceChoice() == nullptr);
    m_view->choose(QStringLiteral("rag"));
    QVERIFY(m_view->form().expectedField() == nullptr);
    QComboBox* source = m_view->form().sourceChoice();
    QCOMPARE(source->currentText(), QStringLiteral("generated"));
    const QString usual = m_view->form().field(QStringLiteral("documents"))->text();
    source->setCurrentIndex(1);
    QCOMPARE(source->currentText(), QStringLiteral("from this query"));
    QVERIFY(m_view->form().field(QStringLiteral("documents"))->text() != usual);
    QVERIFY(!m_view->form().field(QStringLiteral("words"))->isEnabled());
    QVERIFY(m_view->runButton().isEnabled());
    m_view->form().field(QStringLiteral("documents"))->setText(QStringLiteral("1,900"));
    QVERIFY(!m_view->runButton().isEnabled());
    source->setCurrentIndex(0);
    m_view->form().field(QStringLiteral("documents"))->setText(usual);
    QVERIFY(m_view->form().field(QStringLiteral("words"))->isEnabled());

    m_view->choose(QStringLiteral("accuracy"));
    QVERIFY(!m_view->form().expectedField()->isEnabled());
    m_view->form().sourceChoice()->setCurrentIndex(1);
    QVERIFY(m_view->form().expectedField()->isEnabled());
    m_view->form().expectedField()->setText(QStringLiteral("a; b"));
    m_view->form().field(QStringLiteral("policies"))->setText(QStringLiteral("spans"));
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(job()->problem, QString());
    QCOMPARE(result()->request.expected, std::string("a; b"));
    QVERIFY(result()->request.own != nullptr);
    QTRY_VERIFY(m_view->model().setup.contains(QStringLiteral("expected answer “a; b”")));
    // Chosen again, it is as it was left.
    m_view->choose(QStringLiteral("rag"));
    m_view->choose(QStringLiteral("accuracy"));
    QCOMPARE(m_view->form().sourceChoice()->currentIndex(), 1);
    QCOMPARE(m_view->form().expectedField()->text(), QStringLiteral("a; b"));
  }

  void aQueryWithoutDocumentsIsRefused() {
    m_view->choose(QStringLiteral("rag"));
    m_view->form().sourceChoice()->setCurrentIndex(1);
    QVERIFY(m_view->runButton().isEnabled());
    QVERIFY(m_window->openExample(QStringLiteral("chat.json")));
    QTRY_VERIFY(!m_view->runButton().isEnabled());
    m_window->perform(QStringLiteral("run.experiment:rag;source=own"));
    QVERIFY2(m_window->statusBar()->currentMessage().contains(QStringLiteral("no plus")),
             qPrintable(m_window->statusBar()->currentMessage()));
    QVERIFY(!result());
  }

  /// Before it starts, and what is left while it runs; both from tokens and the pace of the model.
  void saysHowLongItTakes() {
    m_view->choose(QStringLiteral("accuracy"));
    m_view->setRequest({.experiment = "accuracy", .values = {{"policies", "spans"}}, .repeats = 40});
    QTRY_COMPARE_WITH_TIMEOUT(m_view->said(), worded(QStringLiteral("<duration-needs-answer>")), kPatience);
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(m_view->said().contains(QStringLiteral(" left")), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QTRY_VERIFY_WITH_TIMEOUT(m_view->said().startsWith(QStringLiteral("Takes ")), kPatience);
    // Another request is counted again, in the same place.
    m_view->setRequest(
        {.experiment = "rag", .values = {{"documents", "1,2"}, {"policies", "spans"}}, .repeats = 1});
    QTRY_COMPARE_WITH_TIMEOUT(m_view->said(), QStringLiteral("Takes about 1 s."), kPatience);
    m_view->form().field(QStringLiteral("documents"))->setText(QStringLiteral("x"));
    QVERIFY(!m_view->said().contains(QStringLiteral("Takes")));
    // Of the documents of the query as well.
    m_view->form().field(QStringLiteral("documents"))->setText(QStringLiteral("1"));
    m_view->form().sourceChoice()->setCurrentIndex(1);
    QTRY_VERIFY_WITH_TIMEOUT(m_view->said().startsWith(QStringLiteral("Takes about")), kPatience);
  }

  /// What was typed for one experiment is there when it is chosen again.
  void fieldsAreKept() {
    m_view->choose(QStringLiteral("rag"));
    m_view->form().field(QStringLiteral("words"))->setText(QStringLiteral("33"));
    m_view->choose(QStringLiteral("judge"));
    QVERIFY(m_view->form().field(QStringLiteral("generates")) != nullptr);
    m_view->choose(QStringLiteral("rag"));
    QCOMPARE(m_view->form().field(QStringLiteral("words"))->text(), QStringLiteral("33"));
  }

  void wishesAreTexts() {
    const experiment::ExperimentRequest request{
        .experiment = "rag", .values = {{"documents", "1,2"}, {"policies", "spans"}}, .repeats = 3};
    QVERIFY(readExperimentRequest(experimentRequestText(request)) == request);
    const experiment::ExperimentRequest folder{
        .experiment = "conversation", .values = {{"folder", "/a;b%3B=c"}}, .repeats = 1};
    QVERIFY(readExperimentRequest(experimentRequestText(folder)) == folder);
    const experiment::ExperimentRequest own{.experiment = "accuracy",
                                            .values = {},
                                            .repeats = 1,
                                            .source = experiment::DocumentSource::Own,
                                            .expected = "50 %; or=so"};
    QVERIFY(readExperimentRequest(experimentRequestText(own)) == own);
    QVERIFY(!readExperimentRequest(QStringLiteral("nothing")));
    QVERIFY(!readExperimentRequest(QString()));
  }
};

SPANSCOPE_TEST(tst_experiments_page, TestExperimentsPage, QApplication)
#include "tst_experiments_page.moc"
