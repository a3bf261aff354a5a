// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through every step of every lesson in the window, forward and at random.
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/lessons/lesson_window.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_question.h"
#include "ui/window/lesson_marks.h"

#include <QApplication>
#include <QTest>

#include <optional>
#include <random>
#include <string>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

namespace {

/// All of the window that a lesson sets.
struct Seen {
  QString title;
  document::Document document;
  LayoutId layout = LayoutId::Author;
  Selection selection;
  RunId run = 0;
  std::size_t position = 0;
  QString dock;  ///< that is lit
  bool operator==(const Seen&) const = default;
};

}  // namespace

class TestLessonSteps : public LessonWindow {
  Q_OBJECT

 private:
  Seen seen() {
    Seen now;
    Workspace& workspace = m_window->workspace();
    now.layout = m_window->docks().layout();
    if (workspace.current() == nullptr) return now;
    now.title = workspace.model()->title();
    now.document = workspace.model()->document();
    now.selection = workspace.current()->selection;
    now.run = workspace.shownRun();
    now.position = workspace.input().position;
    now.dock = course().dock();
    return now;
  }
  /// Answers, carries out actions, or goes to the next step. Returns false at the end of the lesson.
  bool continueLesson() {
    if (const std::optional<QuestionPlace> place = course().waiting())
      course().answer(*place, {.number = QStringLiteral("10"), .choice = 0});
    else if (!course().tasks().empty())
      course().doTasks();
    else if (course().canGoOn())
      course().next();
    else
      return false;
    return isIdle() && course().problem().isEmpty();
  }
  /// Whether the view of a dock shows more than a sentence about its future content. The learner starts
  /// experiments.
  static bool hasContent(Dock& dock) {
    if (isHidden(dock)) return false;
    if (dock.id() == QLatin1String("experiments")) return true;
    return dock.view() == nullptr || dock.view()->csv().trimmed().contains(QLatin1Char('\n'));
  }
  bool canBeDragged(const lesson::Action& swap) {
    constexpr int kLeastHeight = 24;  // pixels
    QRect before;
    for (const lesson::Argument& argument : swap.arguments) {
      const auto part = course().selectionFor(std::get<lesson::Target>(argument.value));
      const QRect place = part ? m_window->canvas().placeOf(part->currentNode()) : QRect();
      if (place.height() < kLeastHeight || place == before) return false;
      before = place;
    }
    return true;
  }

 private Q_SLOTS:
  void init() { QVERIFY(openWindow()); }
  void cleanup() { closeWindow(); }

  void everyLessonHoldsInTheWindow_data() {
    QTest::addColumn<QString>("path");
    for (const ListedLesson& lesson : listedLessons()) QTest::newRow(qPrintable(lesson.key)) << lesson.path;
  }
  void everyLessonHoldsInTheWindow() {
    QFETCH(QString, path);
    QVERIFY(m_window->lessons().open(path));
    for (std::size_t step = 0; step < course().steps(); ++step)
      QVERIFY2(goTo(step), qPrintable(course().problem()));
    const lesson::FilledLesson filled = lesson::fill(course().lesson(), course().facts());
    QStringList failures;
    for (const std::string& failure : filled.failures()) failures.append(QString::fromStdString(failure));
    QCOMPARE(failures, QStringList());
    // The purpose of the model is not repeated with each answer.
    for (const auto& record : *m_window->workspace().history().records()) QVERIFY(record->madeFor.isEmpty());
    // What the lesson did is nothing that would have to be saved.
    for (const auto& document : m_window->workspace().documents()) QVERIFY(!document->model->isModified());
  }

  void backAndForthAtRandomIsAlwaysTheSame() {
    perform("learn.lesson:6-when-nothing-is-found.md");
    QVERIFY(isIdle());
    std::vector<Seen> states;
    for (std::size_t step = 0; step < course().steps(); ++step) {
      QVERIFY2(goTo(step), qPrintable(course().problem()));
      // A step that was left has the learner's changes.
      if (!course().tasks().empty()) course().doTasks();
      QVERIFY(isIdle());
      states.push_back(seen());
    }
    const lesson::LessonFacts facts = course().facts();
    constexpr unsigned kSeed = 7;
    constexpr int kMoves = 1000;
    constexpr int kRunEvery = 100;
    constexpr int kShown = 250;  // moves with views that draw, which takes most of the time
    std::mt19937 random(kSeed);
    Workspace& workspace = m_window->workspace();
    for (int i = 0; i < kMoves; ++i) {
      const std::size_t step = 1 + random() % (course().steps() - 1);
      const QByteArray where = "seed " + QByteArray::number(kSeed) + ", move " + QByteArray::number(i) +
                               ", step " + QByteArray::number(qulonglong(step));
      if (i % 3 == 0) {
        workspace.model()->change(QStringLiteral("Play"), [i](document::Document& document) {
          document.settings.seed = static_cast<std::uint64_t>(i);
        });
      }
      if (i % 7 == 0) workspace.select({});
      if (i == kShown) m_window->hide();
      if (i % 97 == 0) perform(i % 2 == 0 ? "view.author" : "view.measure");
      if (i % kRunEvery == 0) {
        perform("run.run");
        QTRY_VERIFY_WITH_TIMEOUT(!workspace.engine().isBusy(), kWait);
      }
      QVERIFY2(goTo(step), where.constData());
      QVERIFY2(seen() == states[step], where.constData());
    }
    QCOMPARE(course().facts().size(), facts.size());
    for (std::size_t i = 0; i < facts.size(); ++i) QVERIFY(course().facts()[i].account == facts[i].account);
  }

  void playingFreelyChangesNoFigure() {
    perform("learn.lesson:0-first-steps.md#3");
    QVERIFY(isIdle());
    course().doTasks();
    QVERIFY(isIdle());
    const Seen before = seen();
    const std::int64_t first = course().facts().front().account.prompt.total();
    // The learner asks what the lesson will ask next, so that the cache would know it.
    m_window->workspace().model()->change(
        QStringLiteral("Play"), [](document::Document& document) { document.settings.maxTokens = 3; });
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->workspace().engine().isBusy(), kWait);
    QTRY_VERIFY(button(worded("<back-to-the-step>")) != nullptr);
    QTest::keyClick(m_window, Qt::Key_F9, Qt::ShiftModifier);
    QCOMPARE(seen(), before);
    QTRY_VERIFY(button(worded("<back-to-the-step>")) == nullptr);
    QVERIFY(goTo(6));
    QCOMPARE(course().facts().front().account.prompt.total(), first);
    const lesson::FilledLesson filled = lesson::fill(course().lesson(), course().facts());
    for (std::size_t step = 0; step < 6; ++step) {
      for (const lesson::FilledBlock& block : filled.steps[step].blocks) {
        const auto* claims = std::get_if<lesson::FilledClaims>(&block);
        if (claims == nullptr) continue;
        for (const lesson::FilledClaim& claim : *claims) QVERIFY2(claim.holds == true, claim.written.c_str());
      }
    }
  }

  void everyTargetOfAStepIsVisible_data() {
    QTest::addColumn<QString>("path");
    QTest::addColumn<QSize>("size");
    for (const ListedLesson& lesson : listedLessons()) {
      for (const QSize size : {QSize(1440, 900), QSize(1024, 700)}) {
        const QString name = QStringLiteral("%1 %2x%3").arg(lesson.key).arg(size.width()).arg(size.height());
        QTest::newRow(qPrintable(name)) << lesson.path << size;
      }
    }
  }
  /// At each stop of each step, the dock of the step is visible and has content, and a view shows each node,
  /// block and token that the step names or selects. While a question hides the run, the dock reports this.
  void everyTargetOfAStepIsVisible() {
    QFETCH(QString, path);
    QFETCH(QSize, size);
    m_window->resize(size);
    QVERIFY(m_window->lessons().open(path, 0));
    const LessonMarks& marks = m_window->lessons().marks();
    QVERIFY(isIdle());
    do {
      const std::size_t step = course().step();
      const auto waiting = course().waiting();
      const bool isRunHidden = waiting && course().asksAboutEnded(*waiting);
      const QString at = QStringLiteral("step %1, block %2: ").arg(step + 1).arg(course().readable());
      if (Dock* dock = m_window->docks().dock(course().dock()); dock != nullptr && !m_window->isWelcome()) {
        QTRY_VERIFY2_WITH_TIMEOUT(!dock->visibleRegion().isEmpty(), qPrintable(at + dock->id()), kWait / 3);
        QTRY_VERIFY2_WITH_TIMEOUT((isRunHidden && isHidden(*dock)) || hasContent(*dock),
                                  qPrintable(at + dock->id() + QStringLiteral(" is empty")), kWait / 3);
      }
      if (isRunHidden) continue;
      for (const lesson::Target& target : course().spokenOf()) {
        if (target.kind == lesson::Target::Kind::Dock) continue;
        const QString what = at + QString::fromStdString(lesson::written(target));
        QVERIFY2(course().selectionFor(target).has_value(), qPrintable(what));
        QTRY_VERIFY2_WITH_TIMEOUT(marks.isSeen(target), qPrintable(what), kWait / 3);
      }
      // The learner can drag a node only if the canvas draws the node alone, and large enough.
      for (const LessonCourse::Task& task : course().tasks()) {
        if (task.isDone || task.action->kind != lesson::ActionKind::Swap) continue;
        QTRY_VERIFY2_WITH_TIMEOUT(canBeDragged(*task.action), qPrintable(at + QStringLiteral("swap")),
                                  kWait / 3);
      }
    } while (continueLesson());
    QVERIFY2(course().problem().isEmpty(), qPrintable(course().problem()));
    QCOMPARE(course().step() + 1, course().steps());
  }
};

SPANSCOPE_TEST(tst_lesson_steps, TestLessonSteps, QApplication)
#include "tst_lesson_steps.moc"
