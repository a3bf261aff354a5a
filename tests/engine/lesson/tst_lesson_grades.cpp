// SPDX-License-Identifier: GPL-3.0-or-later
// The answers of learners: their file, their verdicts, and the table of a class.
#include "engine/base/error.h"
#include "engine/lesson/answers.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QTest>

#include <string>

using namespace spanscope;
using namespace spanscope::lesson;

namespace {

FilledQuestion numberQuestion(const char* right, Question::Kind kind = Question::Kind::Number) {
  FilledQuestion question;
  question.kind = kind;
  question.answer = right;
  return question;
}

FilledQuestion choiceQuestion() {
  FilledQuestion question;
  question.kind = Question::Kind::Choice;
  question.choices = {{"one", false}, {"two", true}};
  return question;
}

}  // namespace

class TestLessonGrades : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void numbers_data();
  void numbers();
  void choices();
  void theFileIsReadBack();
  void otherFilesAreRefused();
  void aTableOfAClass();
};

void TestLessonGrades::numbers_data() {
  QTest::addColumn<QString>("said");
  QTest::addColumn<QString>("right");
  QTest::addColumn<bool>("isBlock");
  QTest::addColumn<QString>("grade");
  QTest::newRow("equal") << "70"
                         << "70" << false << "right";
  QTest::newRow("with a unit") << "2.9"
                               << "2.9 ms" << false << "right";
  QTest::newRow("within a tenth") << "64"
                                  << "70" << false << "close";
  QTest::newRow("farther") << "62"
                           << "70" << false << "wrong";
  QTest::newRow("a block is never close") << "9"
                                          << "10" << true << "wrong";
  QTest::newRow("zero") << "0"
                        << "0" << false << "right";
  QTest::newRow("near zero") << "1"
                             << "0" << false << "wrong";
  QTest::newRow("a decimal point without digits") << "7."
                                                  << "7" << false << "right";
  QTest::newRow("nothing") << ""
                           << "70" << false << "skipped";
  QTest::newRow("no value") << "70"
                            << "" << false << "unknown";
}

void TestLessonGrades::numbers() {
  QFETCH(QString, said);
  QFETCH(QString, right);
  QFETCH(bool, isBlock);
  QFETCH(QString, grade);
  const FilledQuestion question =
      numberQuestion(right.toUtf8().constData(), isBlock ? Question::Kind::Block : Question::Kind::Number);
  const Grade found = gradeOf(question, {.step = 1, .question = 1, .number = said.toStdString()});
  QCOMPARE(QString::fromLatin1(gradeName(found)), grade);
}

void TestLessonGrades::choices() {
  const FilledQuestion question = choiceQuestion();
  QCOMPARE(gradeOf(question, {.step = 1, .question = 1, .choice = 1}), Grade::Right);
  QCOMPARE(gradeOf(question, {.step = 1, .question = 1, .choice = 0}), Grade::Wrong);
  QCOMPARE(gradeOf(question, {.step = 1, .question = 1, .choice = 7}), Grade::Skipped);
  QCOMPARE(gradeOf(question, {.step = 1, .question = 1}), Grade::Skipped);
}

void TestLessonGrades::theFileIsReadBack() {
  const LearnerAnswers answers{.lesson = "3-prefix-caching.md",
                               .answers = {{.step = 3, .question = 1, .choice = 1},
                                           {.step = 5, .question = 1, .number = "0 \"x\""},
                                           {.step = 7, .question = 2}}};
  QCOMPARE(readAnswers(written(answers), "a.json"), answers);
}

void TestLessonGrades::otherFilesAreRefused() {
  for (const char* text : {"", "[]", "{}", "{\"lesson\": 1, \"answers\": []}",
                           "{\"lesson\": \"a\", \"answers\": [{\"step\": 1}]}"})
    QVERIFY_THROWS_EXCEPTION(Failure, static_cast<void>(readAnswers(text, "a.json")));
}

void TestLessonGrades::aTableOfAClass() {
  FilledLesson lesson;
  lesson.steps = {{.number = 1, .title = "One", .blocks = {FilledProse{}, numberQuestion("70")}},
                  {.number = 2, .title = "Two", .blocks = {choiceQuestion(), numberQuestion("10")}}};
  const std::vector<GradedLearner> learners{{"Ada, L.",
                                             {"a.md",
                                              {{.step = 1, .question = 1, .number = "70"},
                                               {.step = 2, .question = 1, .choice = 0},
                                               {.step = 2, .question = 2, .number = "10"}}}},
                                            {"Bo", {"a.md", {{.step = 1, .question = 1, .number = "68"}}}}};
  QCOMPARE(QString::fromStdString(gradesCsv(lesson, learners)),
           QStringLiteral("learner,1.1,2.1,2.2,right,questions\n"
                          "\"Ada, L.\",right,wrong,right,2,3\n"
                          "Bo,close,skipped,skipped,0,3\n"));
}

SPANSCOPE_TEST(tst_lesson_grades, TestLessonGrades)
#include "tst_lesson_grades.moc"
