// SPDX-License-Identifier: GPL-3.0-or-later
// A teacher records a lesson: questions, figures, claims and links by the fields of the panel; and what was
// recorded outlives the program.
#include "engine/lesson/filled.h"
#include "engine/lesson/lesson_run.h"
#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/lessons/lesson_actions.h"
#include "ui/lessons/lesson_course.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/lessons/lesson_recorder_panel.h"
#include "ui/lessons/metric_picker.h"
#include "ui/lessons/recording_file.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/lesson_recording.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMessageBox>
#include <QObject>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QSet>
#include <QTest>
#include <QTimer>
#include <QToolButton>

#include <memory>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

constexpr int kWaitForRun = 60'000;  // milliseconds

}  // namespace

class TestLessonRecorder : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;

  MainWindow& window() { return m_fresh->window(); }
  LessonRecorder& recorder() { return *window().lessons().recording().recorder(); }
  LessonRecorderPanel* panel() { return window().findChild<LessonRecorderPanel*>(); }
  bool run() {
    const std::uint32_t before = recorder().runs();
    window().perform(QStringLiteral("run.run"));
    return QTest::qWaitFor([&] { return recorder().runs() == before + 1; }, kWaitForRun);
  }
  bool begin() {
    if (!window().openExample(QStringLiteral("rag.json"))) return false;
    window().perform(QStringLiteral("learn.record"));
    return window().lessons().recording().recorder() != nullptr;
  }
  template <class Widget>
  Widget* named(const char* name) {
    for (auto* one : panel()->findChildren<Widget*>()) {
      if (one->accessibleName() == worded(name) || one->objectName() == QString::fromLatin1(name)) return one;
    }
    return nullptr;
  }
  QPushButton* button(const QWidget* beside, const char* text) {
    for (auto* one : beside->findChildren<QPushButton*>()) {
      if (one->text() == worded(text)) return one;
    }
    return nullptr;
  }
  /// Chooses from the open list by its keys: the typed text, then Return.
  bool pick(const char* typed, int comparison = 0) {
    auto* picker = panel()->findChild<MetricPicker*>();
    if (picker == nullptr || !picker->isVisible()) return false;
    QTest::keyClicks(picker->findChild<QLineEdit*>(), QString::fromLatin1(typed));
    auto* said = picker->findChild<QListWidget*>();
    if (said->isVisible()) said->setCurrentRow(comparison);
    QTest::keyClick(picker, Qt::Key_Return);
    return QTest::qWaitFor([this] { return panel()->findChild<MetricPicker*>() == nullptr; });
  }
  void press(QWidget* button) {
    button->setFocus();
    QTest::keyClick(button, Qt::Key_Space);
  }
  void ask(Qt::Key last, int count) {
    auto* kind = named<QComboBox>("questionKind");
    kind->setFocus();
    QTest::keyClick(kind, Qt::Key_Home);
    for (int i = 0; i < count; ++i) QTest::keyClick(kind, last);
  }
  QStringList recordings() {
    return QDir(m_fresh->path(QStringLiteral("autosave")))
        .entryList({QStringLiteral("*.lesson-autosave")}, QDir::Files);
  }
  /// Answers the box that comes with the button of this text.
  void answerBox(const char* text) {
    QTimer::singleShot(200, &window(), [text = worded(text)] {
      QWidget* const modal = QApplication::activeModalWidget();
      auto* box = qobject_cast<QMessageBox*>(modal);
      if (box == nullptr && modal != nullptr) modal->close();
      if (box == nullptr) return;
      for (QAbstractButton* one : box->buttons()) {
        if (one->text() == text) return one->click();
      }
      box->reject();
    });
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    QVERIFY(m_fresh->show({1024, 700}));
  }
  void cleanup() { m_fresh.reset(); }

  void questionsClaimsAndLinksAreWritten() {
    QVERIFY(begin());
    recorder().setHead(QStringLiteral("Mira"), 5, QStringLiteral("what a document costs"));
    QTest::keyClicks(named<QLineEdit>("<title-step>"), QStringLiteral("One"));
    auto* text = named<QPlainTextEdit>("<learner-reads-first>");
    auto* outcome = named<QPlainTextEdit>("<came-out-read>");
    // Words that are marked become a link to the node that is selected.
    const document::Document& document = window().workspace().model()->document();
    const auto node =
        selectionOf({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/2"}, document, nullptr);
    QVERIFY(node.has_value());
    window().workspace().select(*node);
    QTest::qWait(50);
    text->setFocus();
    QTest::keyClicks(text, QStringLiteral("This is the question"));
    QTest::keyClick(text, Qt::Key_Left, Qt::ControlModifier | Qt::ShiftModifier);
    auto* links = named<QPushButton>("putLink");
    Q_EMIT links->menu()->aboutToShow();
    QCOMPARE(links->menu()->actions().first()->text(),
             QStringLiteral("To What is the name of the pet of Tarek?"));
    links->menu()->actions().first()->trigger();
    QCOMPARE(text->toPlainText(), QStringLiteral("This is the [question](node:/g/input/cross/2)"));
    // A number is asked for before the run; its figure comes from the list.
    ask(Qt::Key_Down, 1);
    QTest::keyClicks(named<QPlainTextEdit>("Question"), QStringLiteral("How many?"));
    press(button(named<QLineEdit>("questionAnswer")->parentWidget(), "<choose-answer-metric>"));
    QVERIFY(pick("computed tok"));
    QCOMPARE(named<QLineEdit>("questionAnswer")->text(), QStringLiteral("run 1: computed tokens"));
    QVERIFY(run());
    // What came out: a figure in the text, and a claim with the value that the run has.
    outcome->setFocus();
    QTest::keyClicks(outcome, QStringLiteral("It read "));
    press(named<QPushButton>("putFigure"));
    QVERIFY(pick("computed tok"));
    QCOMPARE(outcome->toPlainText(), QStringLiteral("It read {run 1: computed tokens}"));
    press(named<QPushButton>("putClaim"));
    QVERIFY(pick("computed tok"));
    const std::string computed =
        std::to_string(static_cast<int>(recorder().factsOf()(1)->account.prompt.computed));
    QCOMPARE(recorder().at(0).holds, "run 1: computed tokens = " + computed);
    const auto* says = named<QLabel>("Result of statements");
    QVERIFY2(says->text().startsWith(QStringLiteral("✓")), qPrintable(says->text()));
    named<QPlainTextEdit>("holds")->appendPlainText(QStringLiteral("run 1: cached tokens > 0"));
    QVERIFY2(says->text().contains(QStringLiteral("Line 2: ✗ 0 and 0")), qPrintable(says->text()));
    named<QPlainTextEdit>("holds")->undo();

    // One of two answers; exactly one must be right.
    press(button(panel(), "New step"));
    QTest::keyClicks(named<QLineEdit>("<title-step>"), QStringLiteral("Two"));
    QTest::keyClicks(text, QStringLiteral("Once more."));
    ask(Qt::Key_Down, 2);
    QTest::keyClicks(named<QPlainTextEdit>("Question"), QStringLiteral("What comes?"));
    QTest::keyClicks(named<QLineEdit>("Answer 1"), QStringLiteral("It is found"));
    press(named<QPushButton>("What makes answer 1 right"));
    QVERIFY(pick("cached tok"));
    QCOMPARE(named<QLineEdit>("<choice-is-right|1>")->text(), QStringLiteral("run 2: cached tokens > 0"));
    QTest::keyClicks(named<QLineEdit>("Answer 2"), QStringLiteral("It is read again"));
    press(named<QPushButton>("What makes answer 2 right"));
    QVERIFY(pick("cached tok", 1));
    QCOMPARE(named<QLineEdit>("<choice-is-right|2>")->text(), QStringLiteral("run 2: cached tokens = 0"));
    QVERIFY(run());
    QVERIFY2(!named<QLabel>("<answers-question>")->isVisible(),
             qPrintable(named<QLabel>("<answers-question>")->text()));
    // A step back shows its own question again.
    QTest::keyClick(named<QComboBox>("Step"), Qt::Key_Up);
    QCOMPARE(named<QPlainTextEdit>("Question")->toPlainText(), QStringLiteral("How many?"));
    QVERIFY(!named<QLineEdit>("Answer 1")->isVisible());

    const QString path = m_fresh->path(QStringLiteral("mira.md"));
    QVERIFY(window().lessons().recording().saveAs(path));
    QVERIFY(recordings().isEmpty());
    const std::shared_ptr<const LessonFile> file = openLesson(path);
    for (const query::Diagnostic& diagnostic : file->diagnostics)
      QFAIL(diagnostic.located("mira.md").c_str());
    const lesson::LessonFacts facts =
        lesson::runLesson(file->lesson, file->folder, {.backends = test::cpuBackends()});
    QStringList failures;
    for (const std::string& failure : lesson::fill(file->lesson, facts).failures())
      failures << QString::fromStdString(failure);
    QCOMPARE(failures, QStringList());
    QCOMPARE(lesson::countsOf(file->lesson).questions, std::size_t{2});
    QCOMPARE(lesson::countsOf(file->lesson).claims, std::size_t{1});
  }

  /// Every field can be reached by Tab, is in sight then, and nothing is wider than the panel.
  void everythingIsReachedByKeys() {
    QVERIFY(begin());
    ask(Qt::Key_Down, 2);
    auto* area = panel()->findChild<QScrollArea*>(QStringLiteral("lessonRecorderArea"));
    QVERIFY(area->widget()->width() <= area->viewport()->width());
    QSet<const QWidget*> reached;
    named<QToolButton>("<throw-recording-away>")->setFocus();
    for (int i = 0; i < 60; ++i) {
      const QWidget* const at = QApplication::focusWidget();
      if (at == nullptr || !panel()->isAncestorOf(at)) break;
      if (reached.contains(at)) break;
      reached.insert(at);
      const QRect place(at->mapTo(&window(), QPoint()), at->size());
      QVERIFY2(window().rect().contains(place), qPrintable(at->accessibleName()));
      QTest::keyClick(const_cast<QWidget*>(at), Qt::Key_Tab);
    }
    for (const QWidget* one : panel()->findChildren<QWidget*>()) {
      const bool isField = one->isVisible() && one->isEnabled() && (one->focusPolicy() & Qt::TabFocus) != 0 &&
                           one->focusProxy() == nullptr && qobject_cast<const QScrollArea*>(one) == nullptr;
      if (!isField || one->parentWidget()->inherits("QAbstractSpinBox")) continue;
      QVERIFY2(reached.contains(one),
               qPrintable(QString::fromLatin1(one->metaObject()->className()) + one->accessibleName()));
    }
  }

  /// The list of actions names nodes by their texts, and runs by their number in the lesson.
  void actionsHaveNames() {
    QVERIFY(window().openExample(QStringLiteral("rag.json")));
    window().perform(QStringLiteral("run.run"));
    Workspace& workspace = window().workspace();
    QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy() && workspace.history().records()->size() == 1,
                             kWaitForRun);
    window().perform(QStringLiteral("learn.record"));
    QVERIFY(run());
    const document::Document& shown = workspace.model()->document();
    const document::NodeId cross = shown.at(shown.root()).children.front();
    const document::NodeId plus = shown.at(cross).children.at(1);
    workspace.model()->change(QStringLiteral("Swap"), [plus](document::Document& document) {
      document::swapChildren(document, plus, 0, 1);
    });
    QTest::qWait(50);
    QVERIFY(run());
    QStringList words;
    for (std::size_t i = 0; i < recorder().at(0).actions.size(); ++i) words << recorder().wordsOf(i);
    const QString all = words.join(QLatin1Char('|'));
    QVERIFY2(!all.contains(QLatin1String("node:")), qPrintable(all));
    QVERIFY2(all.contains(QLatin1String("Tarek is a baker")), qPrintable(all));
    const QStringList runs = words.filter(QRegularExpression(QStringLiteral("\\d.*\\d")));
    QCOMPARE(runs.size(), 2);
    QVERIFY2(runs.front().contains(QLatin1Char('1')) && runs.front().contains(QLatin1Char('2')),
             qPrintable(all));
  }

  void aStepWithoutWorkCanGo() {
    QVERIFY(begin());
    QVERIFY(!recorder().canRemoveStep());
    recorder().newStep();
    QVERIFY(recorder().canRemoveStep());
    recorder().goTo(0);
    QVERIFY(!recorder().canRemoveStep());
    recorder().goTo(1);
    press(button(panel(), "<remove-recorded-step>"));
    QCOMPARE(recorder().steps(), std::size_t{1});
  }

  void aRecordingComesBack_data() {
    QTest::addColumn<bool>("isClosed");
    QTest::newRow("the window was closed") << true;
    QTest::newRow("the program was killed") << false;
  }
  void aRecordingComesBack() {
    QFETCH(bool, isClosed);
    QVERIFY(begin());
    recorder().setHead(QStringLiteral("Kept"), 7, QStringLiteral("that nothing is lost"));
    recorder().setTexts(QStringLiteral("First"), QStringLiteral("A query."), QStringLiteral("Read."));
    QVERIFY(run());
    window().perform(QStringLiteral("view.explain"));
    recorder().newStep();
    recorder().setTexts(QStringLiteral("Second"), QStringLiteral("Once more."), QString());
    recorder().setQuestion(
        {.kind = lesson::Question::Kind::Choice,
         .text = "What?",
         .answer = {},
         .choices = {{"a", "run 2: cached tokens > 0"}, {"b", "run 2: cached tokens = 0"}}});
    QVERIFY(run());
    recorder().setHolds(QStringLiteral("run 2: cached tokens > run 1: cached tokens"));
    const metrics::PromptAccount first = recorder().factsOf()(1)->account;
    const metrics::PromptAccount second = recorder().factsOf()(2)->account;
    QVERIFY(second.prompt.hit > 0);
    const QByteArray before = recorder().saved();
    QString side = m_fresh->path(QStringLiteral("autosave"));
    if (!isClosed) {
      // What is on the disk is what a killed program leaves.
      QTRY_VERIFY_WITH_TIMEOUT(!recordings().isEmpty(), 10'000);
      QTRY_VERIFY_WITH_TIMEOUT(
          [&] {
            QFile file(side + QLatin1Char('/') + recordings().first());
            return file.open(QIODevice::ReadOnly) && file.readAll() == before;
          }(),
          10'000);
      // Two windows: what this one still writes is its own.
      QVERIFY(RecordingFile::found(side).empty());
    }
    QVERIFY(m_fresh->reopen({1024, 700}));
    QCOMPARE(recordings().size(), 1);
    window().restoreSession();
    const std::size_t tabs = window().workspace().documents().size();
    answerBox("<continue-recording>");
    window().offerRecovery();
    QVERIFY(window().lessons().recording().recorder() != nullptr);
    QVERIFY(QTest::qWaitFor([this] { return !recorder().isPaused(); }, kWaitForRun));
    QVERIFY2(recorder().unsaid().isEmpty(), qPrintable(recorder().unsaid()));
    QCOMPARE(window().docks().layout(), LayoutId::Explain);
    // The tab that the recording opened again is the recording's.
    QCOMPARE(window().workspace().documents().size(), tabs);
    QCOMPARE(recordings().size(), 1);
    QCOMPARE(recorder().head().title, std::string("Kept"));
    QCOMPARE(named<QLineEdit>("<title-lesson>")->text(), QStringLiteral("Kept"));
    QCOMPARE(named<QLineEdit>("Answer 2")->text(), QStringLiteral("b"));
    // The cache is as it was: the figures are the same, and the next run finds what it would have found.
    QVERIFY(recorder().factsOf()(1)->account == first);
    QVERIFY(recorder().factsOf()(2)->account == second);
    recorder().newStep();
    recorder().setTexts(QStringLiteral("Third"), QStringLiteral("And again."), QString());
    QVERIFY(run());
    const metrics::PromptAccount third = recorder().factsOf()(3)->account;
    QVERIFY(third == second);
    const QString path = m_fresh->path(QStringLiteral("kept.md"));
    QVERIFY(window().lessons().recording().saveAs(path));
    QVERIFY(recordings().isEmpty());
    const std::shared_ptr<const LessonFile> file = openLesson(path);
    QVERIFY(file->diagnostics.empty());
    const lesson::LessonFacts facts =
        lesson::runLesson(file->lesson, file->folder, {.backends = test::cpuBackends()});
    QCOMPARE(facts.size(), std::size_t{3});
    QVERIFY(facts[0].account == first && facts[1].account == second && facts[2].account == third);
    QVERIFY(lesson::fill(file->lesson, facts).failures().empty());
  }

  void whatIsThrownAwayDoesNotComeBack() {
    QVERIFY(begin());
    recorder().setHead(QStringLiteral("Away"), 7, QString());
    QTRY_VERIFY_WITH_TIMEOUT(!recordings().isEmpty(), 10'000);
    answerBox("<confirm-discard-recording>");
    press(named<QToolButton>("<throw-recording-away>"));
    QVERIFY(window().lessons().recording().recorder() == nullptr);
    QVERIFY(recordings().isEmpty());
  }

  void damagedRecordingsAreNone_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    const auto row = [](const char* name, const char* from, const char* to) {
      QTest::newRow(name) << QByteArray(from) << QByteArray(to);
    };
    row("another version", "\"recording\":1", "\"recording\":2");
    row("a step that is not there", "\"step\":0", "\"step\":7");
    row("a negative step", "\"step\":0", "\"step\":-1");
    row("an action that is none", "layout author", "lay out author");
    row("no document", "\"document\":", "\"documents\":");
    row("a run that ran nothing", "\"ran\":[]", "\"ran\":[\"\"]");
    row("half of it", "\"tab\"", "}{");
  }
  void damagedRecordingsAreNone() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QVERIFY(begin());
    const QByteArray whole = recorder().saved();
    QVERIFY(LessonRecorder::recovered(whole) != nullptr);
    QVERIFY2(whole.contains(from), whole.constData());
    QByteArray damaged = whole;
    QVERIFY(LessonRecorder::recovered(damaged.replace(from, to)) == nullptr);
  }
};

SPANSCOPE_TEST(tst_lesson_recorder, TestLessonRecorder, QApplication)
#include "tst_lesson_recorder.moc"
