// SPDX-License-Identifier: GPL-3.0-or-later
// A learner goes through lessons in the window: forward, back, playing in between, by keys.
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/lessons/lesson_list.h"
#include "ui/lessons/lesson_reader.h"

#include <QAction>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QObject>
#include <QPushButton>
#include <QRadioButton>
#include <QScrollArea>
#include <QTest>

#include <algorithm>
#include <memory>
#include <random>
#include <variant>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kWait = 60'000;  // milliseconds

/// All of the window that a lesson sets.
struct Seen {
  QString title;
  document::Document document;
  LayoutId layout = LayoutId::Author;
  std::vector<document::NodeId> nodes;
  RunId run = 0;
  bool operator==(const Seen&) const = default;
};

}  // namespace

class TestLessonReader : public QObject {
  Q_OBJECT

 private:
  std::unique_ptr<test::FreshWindow> m_fresh;
  MainWindow* m_window = nullptr;  ///< its

  LessonReader& reader() { return m_window->lessonReader(); }
  LessonCourse& course() { return *reader().course(); }
  void perform(const char* command) { m_window->perform(QString::fromLatin1(command)); }
  bool isIdle() {
    return QTest::qWaitFor([this] { return !course().isBusy(); }, kWait);
  }
  bool goTo(std::size_t step) {
    course().goTo(step);
    return isIdle() && course().problem().isEmpty() && course().step() == step;
  }
  Seen seen() {
    Seen now;
    Workspace& workspace = m_window->workspace();
    now.layout = m_window->docks().layout();
    if (workspace.current() == nullptr) return now;
    now.title = workspace.model()->title();
    now.document = workspace.model()->document();
    now.nodes = workspace.current()->selection.nodes;
    now.run = workspace.shownRun();
    return now;
  }
  QStringList shownTexts() {
    QStringList texts;
    for (const QLabel* label : reader().findChildren<QLabel*>()) texts.append(label->text());
    return texts;
  }
  QPushButton* button(const QString& text) {
    for (QPushButton* one : reader().findChildren<QPushButton*>()) {
      if (one->text() == text && one->isVisible()) return one;
    }
    return nullptr;
  }

 private Q_SLOTS:
  void init() {
    m_fresh = std::make_unique<test::FreshWindow>();
    m_window = &m_fresh->window();
    QVERIFY(m_fresh->show());
  }
  void cleanup() {
    m_window = nullptr;
    m_fresh.reset();
  }

  void everyLessonHoldsInTheWindow_data() {
    QTest::addColumn<QString>("path");
    for (const ListedLesson& lesson : listedLessons()) QTest::newRow(qPrintable(lesson.key)) << lesson.path;
  }
  void everyLessonHoldsInTheWindow() {
    QFETCH(QString, path);
    QVERIFY(m_window->openLessonFile(path));
    for (std::size_t step = 0; step < course().steps(); ++step)
      QVERIFY2(goTo(step), qPrintable(course().problem()));
    const lesson::FilledLesson filled = lesson::fill(course().lesson(), course().facts());
    QStringList failures;
    for (const std::string& failure : filled.failures()) failures.append(QString::fromStdString(failure));
    QCOMPARE(failures, QStringList());
    // What the lesson did is nothing that would have to be saved.
    for (const auto& document : m_window->workspace().documents()) QVERIFY(!document->model->isModified());
  }

  void aNewcomerIsLedToTheFirstLesson() {
    QPushButton* learn = nullptr;
    for (QPushButton* one : m_window->findChildren<QPushButton*>()) {
      if (one->text() == QStringLiteral("Learn")) learn = one;
    }
    QVERIFY(learn != nullptr);
    QTest::mouseClick(learn, Qt::LeftButton);
    QVERIFY(reader().isVisible() && reader().course() != nullptr);
    QCOMPARE(course().file().key(), QStringLiteral("0-first-steps.md"));
    QVERIFY(m_window->isWelcome());
    QTest::keyClick(m_window, Qt::Key_F8);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{1});
    QVERIFY(!m_window->isWelcome());
    QCOMPARE(m_window->workspace().input().selection.nodes.size(), std::size_t{1});
    QTest::keyClick(m_window, Qt::Key_F7);
    QCOMPARE(course().step(), std::size_t{0});
  }

  void aQuestionIsAnsweredBeforeItsRun() {
    perform("learn.lesson:0-first-steps.md#5");
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{4});
    const std::size_t runs = course().facts().size();
    QVERIFY(course().waiting().has_value());
    QPushButton* answer = button(QStringLiteral("Answer"));
    QVERIFY(answer != nullptr && !answer->isEnabled());
    const QList<QRadioButton*> choices = reader().findChildren<QRadioButton*>();
    QCOMPARE(choices.size(), 2);
    choices[0]->setChecked(true);
    choices[1]->setChecked(true);
    QVERIFY(!choices[0]->isChecked() && answer->isEnabled());
    answer->click();
    QTRY_VERIFY(!course().waiting().has_value());
    QVERIFY(shownTexts().join(QLatin1Char('\n')).contains(QStringLiteral("The run will tell")));
    QCOMPARE(course().facts().size(), runs);
    QVERIFY(goTo(5));
    QCOMPARE(course().facts().size(), runs + 1);
    const auto* verdict = reader().findChild<QLabel*>(QStringLiteral("lessonVerdict"));
    QVERIFY(verdict != nullptr);
    QVERIFY2(verdict->text().startsWith(QStringLiteral("✓")), qPrintable(verdict->text()));
  }

  void aSelectedBlockIsTheAnswer() {
    perform("learn.lesson:2-pages-and-blocks.md");
    QVERIFY(isIdle());
    const auto& steps = course().lesson().steps;
    const auto asks = std::find_if(steps.begin(), steps.end(), [](const lesson::Step& step) {
      return std::any_of(step.blocks.begin(), step.blocks.end(), [](const lesson::Block& block) {
        const auto* question = std::get_if<lesson::Question>(&block);
        return question != nullptr && question->kind == lesson::Question::Kind::Block;
      });
    });
    QVERIFY(asks != steps.end());
    QVERIFY(goTo(static_cast<std::size_t>(asks - steps.begin())));
    auto* number = reader().findChild<QLineEdit*>();
    QVERIFY(number != nullptr);
    // What the lesson itself selected is no answer.
    QTest::qWait(50);
    QVERIFY(number->text().isEmpty());
    const auto* area = reader().findChild<QScrollArea*>(QStringLiteral("lessonArea"));
    QVERIFY(area != nullptr && area->widget()->width() <= area->viewport()->width());
    const trace::RunFacts& facts = course().facts().back();
    const std::vector<trace::BlockPlace> blocks =
        trace::blocksInView(facts.requests.front(), facts.blockSize);
    QVERIFY(blocks.size() > 1);
    Selection selection;
    selection.block = BlockRef{facts.requests.front().request, blocks[1].segment, blocks[1].virtualIndex};
    m_window->workspace().select(selection);
    QTRY_COMPARE(number->text(), QStringLiteral("2"));
  }

  void backAndForthAtRandomIsAlwaysTheSame() {
    perform("learn.lesson:6-when-nothing-is-found.md");
    QVERIFY(isIdle());
    std::vector<Seen> states;
    for (std::size_t step = 0; step < course().steps(); ++step) {
      QVERIFY2(goTo(step), qPrintable(course().problem()));
      states.push_back(seen());
    }
    const lesson::LessonFacts facts = course().facts();
    std::mt19937 random(7);
    for (int i = 0; i < 200; ++i) {
      const std::size_t step = 1 + random() % (course().steps() - 1);
      if (i % 5 == 0) {
        m_window->workspace().model()->change(QStringLiteral("Play"), [i](document::Document& document) {
          document.settings.seed = static_cast<std::uint64_t>(i);
        });
      }
      QVERIFY(goTo(step));
      QVERIFY2(seen() == states[step], qPrintable(QString::number(step)));
    }
    QCOMPARE(course().facts().size(), facts.size());
  }

  void playingFreelyChangesNoFigure() {
    perform("learn.lesson:0-first-steps.md#3");
    QVERIFY(isIdle());
    const Seen before = seen();
    const std::int64_t first = course().facts().front().account.prompt.total();
    // The learner asks what the lesson will ask next, so that the cache would know it.
    m_window->workspace().model()->change(
        QStringLiteral("Play"), [](document::Document& document) { document.settings.maxTokens = 3; });
    perform("run.run");
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->workspace().engine().isBusy(), kWait);
    QTRY_VERIFY(button(QStringLiteral("Back to the step")) != nullptr);
    QTest::keyClick(m_window, Qt::Key_F9, Qt::ShiftModifier);
    QCOMPARE(seen(), before);
    QTRY_VERIFY(button(QStringLiteral("Back to the step")) == nullptr);
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

  void aClickerTurnsThePresentedSteps() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    perform("learn.present");
    auto* bar = m_window->findChild<QWidget*>(QStringLiteral("statusBar"));
    QVERIFY(bar != nullptr && bar->isHidden());
    QVERIFY(button(QStringLiteral("Next ▸")) == nullptr);
    QVERIFY(m_window->docks().maximised() == m_window->docks().dock(QStringLiteral("canvas")));
    QTest::keyClick(&m_window->canvas(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{2});
    QVERIFY(m_window->docks().maximised() == m_window->docks().dock(QStringLiteral("output")));
    QTest::keyClick(&m_window->canvas(), Qt::Key_PageUp);
    QCOMPARE(course().step(), std::size_t{1});
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QVERIFY(!bar->isHidden() && m_window->docks().maximised() == nullptr);
    QVERIFY(button(QStringLiteral("Next ▸")) != nullptr);
  }

  void progressIsKept() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    perform("learn.leave");
    QVERIFY(!reader().isVisible());
    perform("learn.lessons");
    QVERIFY(reader().isVisible() && reader().showsLessons());
    QVERIFY(shownTexts().join(QLatin1Char('\n')).contains(QStringLiteral("at step 2 of 9")));
    perform("learn.lesson:0-first-steps.md");
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{1});
  }

  void aWrongFileSaysWhere() {
    const QString path = m_fresh->path(QStringLiteral("wrong.md"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("---\ntitle: T\nminutes: 5\nafter: a\n---\n\n## 1. One\n\n```do\njump\n```\n");
    file.close();
    QVERIFY(!m_window->openLessonFile(path));
    QVERIFY(reader().course() == nullptr);
    const auto* problems = reader().findChild<QLabel*>(QStringLiteral("lessonProblems"));
    QVERIFY(problems != nullptr);
    QVERIFY2(problems->text().contains(QStringLiteral("Line 10, column 1")), qPrintable(problems->text()));
    QVERIFY(!m_window->openLessonFile(m_fresh->path(QStringLiteral("none.md"))));
  }

  void theMenuHasEveryLesson() {
    const auto* command = m_window->findChild<QAction*>(QStringLiteral("learn.lessons"));
    QVERIFY(command != nullptr);
    QMenu* learn = nullptr;
    for (QObject* object : command->associatedObjects()) {
      if (auto* menu = qobject_cast<QMenu*>(object)) learn = menu;
    }
    QVERIFY(learn != nullptr);
    Q_EMIT learn->aboutToShow();
    Q_EMIT learn->aboutToShow();
    QCOMPARE(static_cast<std::size_t>(learn->findChildren<QAction*>(QStringLiteral("lessonAction")).size()),
             listedLessons().size());
  }
};

SPANSCOPE_TEST(tst_lesson_reader, TestLessonReader, QApplication)
#include "tst_lesson_reader.moc"
