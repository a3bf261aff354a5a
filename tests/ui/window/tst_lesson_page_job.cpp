// SPDX-License-Identifier: GPL-3.0-or-later
// A second process writes the page of a lesson while the user continues.
#include "tests/support/test_program.h"
#include "tests/ui/window/fresh_window.h"
#include "ui/session/run_history.h"
#include "ui/window/lesson_controller.h"
#include "ui/window/lesson_page_writer.h"
#include "ui/window/workspace.h"

#include <QApplication>
#include <QFile>
#include <QFileInfo>
#include <QObject>
#include <QSignalSpy>
#include <QStatusBar>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

using namespace spanscope::ui;

namespace {

constexpr int kPagePatience = 120'000;  // milliseconds
const QString kLesson = QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/lessons/5-relocation.md");

bool writeText(const QString& path, const QByteArray& text) {
  QFile file(path);
  return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

QByteArray textOf(const QString& path) {
  QFile file(path);
  return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// What the job said at its end; "nothing" where it did not end.
QString endOf(LessonPageJob& job) {
  QSignalSpy ended(&job, &LessonPageJob::finished);
  job.start();
  if (ended.isEmpty() && !ended.wait(kPagePatience)) return QStringLiteral("nothing");
  return ended.front().front().toString();
}

}  // namespace

class TestLessonPageJob : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theCommandWritesThePage() {
    spanscope::test::FreshWindow fresh;
    MainWindow& window = fresh.window();
    QVERIFY(fresh.show());
    QVERIFY(window.lessons().open(kLesson));
    const QString command = QStringLiteral("learn.save-page");
    QVERIFY(!window.commands().can(command));
    window.lessons().setProgram(QStringLiteral(SPANSCOPE_PROGRAM));
    QVERIFY(window.commands().can(command));
    const QString path = m_folder.filePath(QStringLiteral("class.html"));
    // A page of last year is there.
    QVERIFY(writeText(path, "old"));
    const auto runs = window.workspace().history().records()->size();
    window.lessons().savePage(path);
    QVERIFY(!window.commands().can(command));
    QCOMPARE(textOf(path), QByteArray("old"));
    QTRY_VERIFY_WITH_TIMEOUT(window.commands().can(command), kPagePatience);
    QVERIFY2(window.statusBar()->currentMessage().contains(QStringLiteral("class.html")),
             qPrintable(window.statusBar()->currentMessage()));
    const QByteArray page = textOf(path);
    QVERIFY(page.count("<figure class=\"view\">") >= 3);
    // The session has nothing of it.
    QCOMPARE(window.workspace().history().records()->size(), runs);
    QCOMPARE(window.workspace().shownRun(), spanscope::RunId{0});
  }

  void saysWhyThereIsNone() {
    const QString path = m_folder.filePath(QStringLiteral("none.html"));
    LessonPageJob without(QStringLiteral("/no/such/program"), kLesson, path);
    const QString problem = endOf(without);
    QVERIFY2(problem.contains(QStringLiteral("/no/such/program")), qPrintable(problem));
    const QString broken = m_folder.filePath(QStringLiteral("broken.md"));
    QVERIFY(writeText(broken, "no lesson\n"));
    LessonPageJob bad(QStringLiteral(SPANSCOPE_PROGRAM), broken, path);
    const QString said = endOf(bad);
    QVERIFY2(said.contains(QStringLiteral("broken.md")), qPrintable(said));
    LessonPageJob nowhere(QStringLiteral(SPANSCOPE_PROGRAM), kLesson,
                          m_folder.filePath(QStringLiteral("no/folder/page.html")));
    QVERIFY(!endOf(nowhere).isEmpty());
    QVERIFY(!QFileInfo::exists(path));
  }

  void oneThatIsGivenUpLeavesNothing() {
    const QString path = m_folder.filePath(QStringLiteral("given-up.html"));
    {
      LessonPageJob job(QStringLiteral(SPANSCOPE_PROGRAM), kLesson, path);
      job.start();
    }
    QVERIFY(!QFileInfo::exists(path));
  }

 private:
  QTemporaryDir m_folder;
};

SPANSCOPE_TEST(tst_lesson_page_job, TestLessonPageJob, QApplication)
#include "tst_lesson_page_job.moc"
