// SPDX-License-Identifier: GPL-3.0-or-later
// The page of experiments: chosen, filled in, run, stopped, drawn and exported, by mouse and by keyboard.
#include "tests/ui/window/fresh_window.h"
#include "ui/views/experiments/experiments_view.h"
#include "ui/words/experiment_words.h"

#include <QLineEdit>
#include <QPushButton>
#include <QtTest>

#include <memory>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kPatience = 60'000;  // milliseconds

}  // namespace

class TestExperimentsPage : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;     ///< its
  ExperimentsView* m_view = nullptr;  ///< its

  std::shared_ptr<const ExperimentRun> run() const { return m_window->workspace().input().experiment; }
  bool hasEnded() const {
    return run() && run()->state != ExperimentState::Running && !m_view->model().isRunning;
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show({1440, 900}));
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    m_window->perform(QStringLiteral("view.measure"));
    m_window->perform(QStringLiteral("run.experiment"));
    m_view =
        qobject_cast<ExperimentsView*>(m_window->docks().dock(QStringLiteral("experiments"))->openView());
    QVERIFY(m_view != nullptr);
    QTRY_VERIFY(m_view->isVisible());
  }
  void cleanup() {
    m_view = nullptr;
    m_window = nullptr;
    m_fresh.reset();
  }

  void runsAndDraws() {
    m_view->choose(QStringLiteral("rag"));
    QVERIFY(m_view->csv().isEmpty());
    m_view->setWish({.experiment = "rag", .values = {{"documents", "1,2"}, {"words", "12"}}, .repeats = 2});
    QVERIFY(m_view->runButton().isEnabled());
    QTest::keyClick(m_view->field(QStringLiteral("documents")), Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(run()->state, ExperimentState::Finished);
    const ExperimentsModel& model = m_view->model();
    QTRY_COMPARE(model.rows.size(), run()->result.points.size());
    QCOMPARE(model.lines.front().name, QStringLiteral("spans, empty cache"));
    QCOMPARE(model.lines.front().places.size(), std::size_t{2});
    QVERIFY(model.setup.contains(QStringLiteral("2 repeats, seed 0; words 12")));
    QVERIFY(m_view->csv().startsWith(QStringLiteral("experiment,model,machine")));
    QCOMPARE(m_view->runButton().text(), QStringLiteral("Run"));
  }

  void isStopped() {
    m_view->setWish({.experiment = "accuracy", .values = {}, .repeats = 1000});
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(run() && run()->result.done > 0, kPatience);
    QTRY_COMPARE(m_view->runButton().text(), QStringLiteral("Stop"));
    m_view->runButton().click();
    QTRY_VERIFY_WITH_TIMEOUT(hasEnded(), kPatience);
    QCOMPARE(run()->state, ExperimentState::Stopped);
    QTRY_VERIFY(!m_view->model().rows.empty());
    QVERIFY(m_view->model().remarks.front().startsWith(QStringLiteral("Stopped")));
  }

  void wrongValuesAreNotRun() {
    m_view->choose(QStringLiteral("rag"));
    QLineEdit* documents = m_view->field(QStringLiteral("documents"));
    const QString usual = documents->text();
    documents->setText(QStringLiteral("1,many"));
    QVERIFY(!m_view->runButton().isEnabled());
    QTest::keyClick(documents, Qt::Key_Return);
    QVERIFY(!run());
    documents->setText(usual);
    QVERIFY(m_view->runButton().isEnabled());
  }

  /// What was typed for one experiment is there when it is chosen again.
  void fieldsAreKept() {
    m_view->choose(QStringLiteral("rag"));
    m_view->field(QStringLiteral("words"))->setText(QStringLiteral("33"));
    m_view->choose(QStringLiteral("judge"));
    QVERIFY(m_view->field(QStringLiteral("generates")) != nullptr);
    m_view->choose(QStringLiteral("rag"));
    QCOMPARE(m_view->field(QStringLiteral("words"))->text(), QStringLiteral("33"));
  }

  /// What the engine says of experiments can be translated, word for word.
  void wordsAreTranslatable() {
    for (const experiment::Experiment* one : experiment::experiments()) {
      QStringList missing;
      const auto check = [&missing](const char* text) {
        if (!isExperimentWord(text)) missing += QString::fromUtf8(text);
      };
      for (const char* text : {one->title, one->brief, one->xName}) check(text);
      for (const experiment::ExperimentField& field : one->fields) {
        check(field.name);
        check(field.help);
      }
      for (const experiment::Measure& measure : one->measures) check(measure.name);
      QVERIFY2(missing.isEmpty(), qPrintable(missing.join(QLatin1Char('\n'))));
    }
  }

  void wishesAreTexts() {
    const experiment::ExperimentWish wish{
        .experiment = "rag", .values = {{"documents", "1,2"}, {"policies", "spans"}}, .repeats = 3};
    QVERIFY(readExperimentWish(experimentWishText(wish)) == wish);
    QVERIFY(!readExperimentWish(QStringLiteral("nothing")));
    QVERIFY(!readExperimentWish(QString()));
  }
};

QTEST_MAIN(TestExperimentsPage)
#include "tst_experiments_page.moc"
