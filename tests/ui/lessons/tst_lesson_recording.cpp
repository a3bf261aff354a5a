// SPDX-License-Identifier: GPL-3.0-or-later
// The actions of the user become a lesson.
#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/lessons/lesson_window.h"
#include "ui/lessons/lesson_recorder.h"
#include "ui/window/lesson_recording.h"

#include <QApplication>
#include <QFile>
#include <QLabel>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

class TestLessonRecording : public LessonWindow {
  Q_OBJECT

 private Q_SLOTS:
  void init() { QVERIFY(openWindow()); }
  void cleanup() { closeWindow(); }

  void whatIsDoneBecomesALesson() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    Workspace& workspace = m_window->workspace();
    perform("learn.record");
    LessonRecorder* recorder = m_window->lessons().recording().recorder();
    QVERIFY(recorder != nullptr);
    const auto run = [this] {
      perform("run.run");
      return QTest::qWaitFor([this] { return !m_window->workspace().engine().isBusy(); }, kWait);
    };
    recorder->setHead(QStringLiteral("Recorded"), 5, QStringLiteral("what was recorded"));
    recorder->setTexts(QStringLiteral("First"), QStringLiteral("A query."),
                       QStringLiteral("It read {run 1: computed tokens} tokens."));
    QVERIFY(run());
    QTRY_COMPARE(recorder->runs(), 1U);
    recorder->newStep();
    recorder->setTexts(QStringLiteral("Second"), QStringLiteral("Another question, in blocks of four."),
                       QStringLiteral("{run 2: cached tokens} were found."));
    recorder->setQuestion({.kind = lesson::Question::Kind::Number,
                           .text = "How many?",
                           .answer = "run 2: cached tokens",
                           .choices = {}});
    const document::Document& document = workspace.model()->document();
    const auto last =
        selectionOf({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/2"}, document, nullptr);
    QVERIFY(last.has_value());
    workspace.select(*last);
    QTest::qWait(50);
    QVERIFY(recorder->selectedParts().front().name.startsWith(QStringLiteral("What is")));
    recorder->noteSelection();
    workspace.model()->change(QStringLiteral("Type"), [&](document::Document& own) {
      query::Node node = own.at(last->currentNode()).own;
      *query::textOf(node) = "Where does Mira live?";
      document::setOwn(own, last->currentNode(), std::move(node));
    });
    perform("view.explain");
    perform("view.dock:pool");
    QVERIFY(run());
    QTRY_COMPARE(recorder->runs(), 2U);
    // A node that goes makes another query of it.
    recorder->newStep();
    recorder->setTexts(QStringLiteral("Third"), QStringLiteral("One document less."), QString());
    const auto middle = selectionOf({.kind = lesson::Target::Kind::Node, .node = "/g/input/cross/1/plus/1"},
                                    document, nullptr);
    QVERIFY(middle.has_value());
    workspace.select(*middle);
    m_window->canvas().perform(QStringLiteral("edit.delete"));
    QVERIFY(run());
    QTRY_COMPARE(recorder->runs(), 3U);
    std::vector<metrics::PromptAccount> recorded;
    for (const auto& record : *workspace.history().records()) {
      metrics::PromptAccount& sum = recorded.emplace_back();
      for (const auto& [request, account] : record->accounts) sum += account;
    }
    const QString path = m_fresh->path(QStringLiteral("My lesson.md"));
    QVERIFY(m_window->lessons().recording().saveAs(path));
    QVERIFY(m_window->lessons().recording().recorder() == nullptr);
    QVERIFY(reader().isVisible() && reader().course() != nullptr);
    QVERIFY(isIdle());
    QVERIFY(reader().width() < m_window->width() / 2);
    QCOMPARE(course().steps(), std::size_t{3});
    for (std::size_t step = 1; step < 3; ++step) QVERIFY2(goTo(step), qPrintable(course().problem()));
    QCOMPARE(course().facts().size(), std::size_t{3});
    for (std::size_t i = 0; i < 3; ++i) QVERIFY(course().facts()[i].account == recorded[i]);
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    for (const char* line :
         {"open my-lesson-rag.span\n", "layout explain\n", "dock pool\n", "select node:/g/input/cross/2\n",
          "edit node:/g/input/cross/2 \"Where does Mira live?\"\n", "open my-lesson-rag-2.span\n"})
      QVERIFY2(text.contains(QString::fromLatin1(line)), line);
    // The other selections were only made to work.
    QCOMPARE(text.count(QStringLiteral("select ")), 1);
  }

  void aRecordingThatCannotBeReadStays() {
    QVERIFY(m_window->openExample(QStringLiteral("rag.json")));
    perform("learn.record");
    LessonRecorder* recorder = m_window->lessons().recording().recorder();
    QVERIFY(recorder != nullptr);
    const QString path = m_fresh->path(QStringLiteral("lesson.md"));
    QVERIFY(!m_window->lessons().recording().saveAs(path));
    QVERIFY(m_window->lessons().recording().recorder() == recorder);
    const auto* problem = m_window->findChild<QLabel*>(QStringLiteral("lessonRecorderProblem"));
    QVERIFY(problem != nullptr && problem->isVisible());
    QVERIFY2(problem->text().contains(worded("<step-without-text>")), qPrintable(problem->text()));
    // No lesson is opened over it.
    perform("learn.lesson:0-first-steps.md");
    QVERIFY(m_window->lessons().recording().recorder() == recorder);
    recorder->setTexts(QStringLiteral("One"), QStringLiteral("Something."), QString());
    QVERIFY(m_window->lessons().recording().saveAs(path));
  }
};

SPANSCOPE_TEST(tst_lesson_recording, TestLessonRecording, QApplication)
#include "tst_lesson_recording.moc"
