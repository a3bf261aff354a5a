// SPDX-License-Identifier: GPL-3.0-or-later
// What a run says of an answer, and what figures look like in a text.
#include "tests/support/test_program.h"
#include "ui/lessons/lesson_question.h"

#include <QObject>
#include <QTest>

using namespace spanscope;
using namespace spanscope::ui;

class TestLessonAnswers : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void numbersAreJudged_data() {
    QTest::addColumn<QString>("said");
    QTest::addColumn<QString>("right");
    QTest::addColumn<bool>("decided");
    QTest::addColumn<int>("verdict");
    const auto row = [](const char* name, const char* said, const char* right, bool decided,
                        AnswerVerdict verdict) {
      QTest::newRow(name) << QString::fromLatin1(said) << QString::fromLatin1(right) << decided
                          << static_cast<int>(verdict);
    };
    row("the same", "70", "70", true, AnswerVerdict::Right);
    row("within a tenth", "64", "70", true, AnswerVerdict::Close);
    row("further", "60", "70", true, AnswerVerdict::Wrong);
    row("none", "0", "0", true, AnswerVerdict::Right);
    row("some of none", "1", "0", true, AnswerVerdict::Wrong);
    row("a time has a unit", "2.9", "2.9 ms", true, AnswerVerdict::Right);
    row("before the run", "70", "70", false, AnswerVerdict::Open);
    row("cannot be had", "70", "", true, AnswerVerdict::Unknown);
    row("passed over", "", "70", true, AnswerVerdict::None);
  }
  void numbersAreJudged() {
    QFETCH(QString, said);
    QFETCH(QString, right);
    QFETCH(bool, decided);
    QFETCH(int, verdict);
    lesson::FilledQuestion question;
    question.answer = right.toStdString();
    LessonAnswer answer;
    answer.number = said;
    QCOMPARE(static_cast<int>(judge(question, answer, decided)), verdict);
  }

  void blocksAreNeverClose() {
    lesson::FilledQuestion question;
    question.kind = lesson::Question::Kind::Block;
    question.answer = "40";
    LessonAnswer answer;
    answer.number = QStringLiteral("39");
    QVERIFY(judge(question, answer, true) == AnswerVerdict::Wrong);
  }

  void choicesAreJudged() {
    lesson::FilledQuestion question;
    question.kind = lesson::Question::Kind::Choice;
    question.choices = {{"found", true}, {"lost", false}};
    LessonAnswer answer;
    answer.choice = 0;
    QVERIFY(judge(question, answer, true) == AnswerVerdict::Right);
    QVERIFY(verdictText(question, answer, AnswerVerdict::Right).contains(QStringLiteral("found")));
    answer.choice = 1;
    QVERIFY(judge(question, answer, true) == AnswerVerdict::Wrong);
    const QString text = verdictText(question, answer, AnswerVerdict::Wrong);
    QVERIFY(text.contains(QStringLiteral("lost")) && text.contains(QStringLiteral("found")));
  }

  void figuresAreNoMarks() {
    lesson::FilledProse prose;
    prose.pieces = {{.kind = lesson::FilledPiece::Kind::Text, .text = "It says *"},
                    {.kind = lesson::FilledPiece::Kind::Metric,
                     .text = "**a** <b>\n![c](file:///d) [e](node:/f)",
                     .metric = "run 1: answer"},
                    {.kind = lesson::FilledPiece::Kind::Text, .text = "*."}};
    QCOMPARE(plainText(markdownOf(prose)), QStringLiteral("It says **a** <b> ![c](file:///d) [e](node:/f)."));
    // An answer with numbers, at the beginning of a line.
    prose.pieces = {
        {.kind = lesson::FilledPiece::Kind::Metric, .text = "1. Oslo", .metric = "run 1: answer"}};
    QCOMPARE(markdownOf(prose), QStringLiteral("1\\. Oslo"));
    QCOMPARE(plainText(markdownOf(prose)), QStringLiteral("1. Oslo"));
  }
};

SPANSCOPE_TEST(tst_lesson_answers, TestLessonAnswers, QGuiApplication)
#include "tst_lesson_answers.moc"
