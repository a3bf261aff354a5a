// SPDX-License-Identifier: GPL-3.0-or-later
// A teacher presents a lesson in the window.
#include "tests/support/test_program.h"
#include "tests/ui/lessons/lesson_window.h"
#include "ui/lessons/lesson_question.h"
#include "ui/window/welcome_page.h"

#include <QApplication>
#include <QComboBox>
#include <QFile>
#include <QSignalSpy>
#include <QTest>

#include <cstdlib>
#include <map>

using namespace spanscope;
using namespace spanscope::ui;

class TestLessonPresentation : public LessonWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { QVERIFY(openWindow()); }
  void cleanup() { closeWindow(); }

  void aClickerTurnsThePresentedSteps() {
    perform("learn.lesson:0-first-steps.md#2");
    QVERIFY(isIdle());
    perform("learn.present");
    auto* bar = m_window->findChild<QWidget*>(QStringLiteral("statusBar"));
    QVERIFY(bar != nullptr && bar->isHidden());
    QVERIFY(button(QStringLiteral("Next ▸")) == nullptr);
    QTRY_VERIFY(m_window->docks().maximised() == m_window->docks().dock(QStringLiteral("canvas")));
    QTest::keyClick(&m_window->canvas(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{2});
    course().doTasks();
    QVERIFY(isIdle());
    QTRY_VERIFY(m_window->docks().maximised() == m_window->docks().dock(QStringLiteral("output")));
    QTest::keyClick(&m_window->canvas(), Qt::Key_PageUp);
    QCOMPARE(course().step(), std::size_t{1});
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QVERIFY(!bar->isHidden() && m_window->docks().maximised() == nullptr);
    QVERIFY(button(QStringLiteral("Next ▸")) != nullptr);
  }

  void aPresenterJumpsToAStep() {
    perform("learn.lesson:3-prefix-caching.md#1");
    QVERIFY(isIdle());
    perform("learn.present");
    const auto* steps = reader().findChild<QComboBox*>();
    QVERIFY(steps != nullptr && steps->isVisible() && steps->count() == int(course().steps()));
    QVERIFY(shownTexts().contains(QStringLiteral("1 of %1").arg(course().steps())));
    QTest::keyClick(&m_window->canvas(), Qt::Key_1);
    QTest::keyClick(&m_window->canvas(), Qt::Key_0);
    QCOMPARE(course().step(), std::size_t{0});
    QTest::keyClick(&m_window->canvas(), Qt::Key_Return);
    QVERIFY(isIdle());
    QCOMPARE(course().step(), std::size_t{9});
    QVERIFY(shownTexts().contains(QStringLiteral("10 of %1").arg(course().steps())));
    // The first Escape ends the number, the second the presentation.
    QTest::keyClick(&m_window->canvas(), Qt::Key_3);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QVERIFY(button(QStringLiteral("Next ▸")) == nullptr);
    QTest::keyClick(&m_window->canvas(), Qt::Key_Escape);
    QVERIFY(button(QStringLiteral("Next ▸")) != nullptr);
    QCOMPARE(course().step(), std::size_t{9});
  }

  /// Before a lesson opens a query there is nothing to show beside its step but examples.
  void aFirstStepIsPresentedAlone() {
    perform("learn.lesson:3-prefix-caching.md");
    QVERIFY(isIdle());
    QVERIFY(m_window->isWelcome() && m_window->findChild<WelcomePage*>()->isVisible());
    perform("learn.present");
    QVERIFY(!m_window->findChild<WelcomePage*>()->isVisible() && reader().isVisible());
    QTest::keyClick(&reader(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QTRY_VERIFY(m_window->canvas().isVisible() || m_window->docks().maximised() != nullptr);
    QTRY_VERIFY(reader().width() < m_window->width() / 2);
    QTest::keyClick(&reader(), Qt::Key_PageUp);
    QTest::keyClick(&reader(), Qt::Key_Escape);
    QTRY_VERIFY(reader().width() < m_window->width() / 2);
  }

  /// What a step shows while it is presented is no wish for other sizes.
  void docksHaveTheirSizesAfterPresenting() {
    perform("learn.lesson:3-prefix-caching.md#3");
    QVERIFY(isIdle());
    const auto widthOf = [this](const char* id) {
      return m_window->docks().dock(QString::fromLatin1(id))->width();
    };
    course().answer(*course().waiting(), {});
    // The next step shows a dock that the layout does not have.
    QVERIFY(goTo(3));
    // The dock of the step gets most of the width, a moment after the step.
    QTRY_VERIFY(widthOf("canvas") * 100 > m_window->docks().width() * 62);
    QTest::qWait(300);  // the other docks follow
    // A dock behind another tab keeps an old width.
    std::map<const char*, int> before;
    for (const char* id : {"output", "canvas", "tokens"}) {
      const QWidget* shown = m_window->docks().dock(QString::fromLatin1(id));
      if (!shown->visibleRegion().isEmpty()) before.emplace(id, shown->width());
    }
    QVERIFY(before.size() >= 2);
    QVERIFY(goTo(2));
    perform("learn.present");
    for (int i = 0; i < 5 && course().step() == 2; ++i) QTest::keyClick(&reader(), Qt::Key_PageDown);
    QVERIFY(isIdle());
    QTest::qWait(300);
    QTest::keyClick(&reader(), Qt::Key_Escape);
    QTRY_VERIFY(m_window->docks().dock(QStringLiteral("prefix-tree"))->isVisible());
    constexpr int kNear = 20;  // pixels
    for (const auto& [id, width] : before) {
      if (m_window->docks().dock(QString::fromLatin1(id))->visibleRegion().isEmpty()) continue;
      QTRY_VERIFY2(
          std::abs(widthOf(id) - width) <= kNear,
          qPrintable(QStringLiteral("%1: %2, %3 before").arg(QLatin1String(id)).arg(widthOf(id)).arg(width)));
    }
  }

  /// A presented step shows its dock alone, even if the step also has targets in other docks.
  void aPresentedStepKeepsItsDock() {
    perform("learn.lesson:0-first-steps.md#7");
    QVERIFY(isIdle());
    perform("learn.present");
    QTRY_COMPARE(m_window->docks().maximised(), m_window->docks().dock(QStringLiteral("canvas")));
    course().doTasks();
    QVERIFY(isIdle());
    QTest::qWait(300);
    QTRY_COMPARE(m_window->docks().maximised(), m_window->docks().dock(QStringLiteral("tokens")));
  }

  /// Presenting changes only the block table. It performs no command of another view, such as an experiment
  /// without a name or a computation.
  void presentingStartsNothing() {
    QFile file(m_fresh->path(QStringLiteral("lesson.md")));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(
        "---\ntitle: T\nminutes: 5\nafter: a\nqueries: example:rag.json\n---\n\n## 1. One\n\nA.\n\n"
        "```do\nopen example:rag.json\nlayout explain\nrun\ndock next-token\n```\n");
    file.close();
    QVERIFY(m_window->lessons().open(file.fileName()));
    QVERIFY(isIdle());
    QTRY_VERIFY(m_window->docks()
                    .dock(QStringLiteral("next-token"))
                    ->view()
                    ->canPerform(QStringLiteral("run.next-token")));
    QSignalSpy ended(&m_window->workspace(), &Workspace::jobEnded);
    perform("learn.present");
    QTest::qWait(500);
    QVERIFY(ended.empty() && !m_window->workspace().engine().isBusy());
    perform("learn.lesson:10-repair.md#1");
    QVERIFY(goTo(10));
    QTRY_COMPARE(m_window->docks().maximised(), m_window->docks().dock(QStringLiteral("experiments")));
  }
};

SPANSCOPE_TEST(tst_lesson_presentation, TestLessonPresentation, QApplication)
#include "tst_lesson_presentation.moc"
