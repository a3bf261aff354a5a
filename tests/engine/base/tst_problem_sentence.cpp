// SPDX-License-Identifier: GPL-3.0-or-later
// The sentences of errors: noun phrases become one sentence, and whole sentences stay as they are.
#ifndef Q_MOC_RUN  // moc of Qt 6.4 cannot read <concepts>
#include "engine/base/problem_sentence.h"
#include "tests/support/test_program.h"
#endif

#include <QCoreApplication>
#include <QObject>
#include <QString>
#include <QTest>

#include <cerrno>
#include <string>

using spanscope::Error;
using spanscope::problemSentence;
using spanscope::Severity;
using spanscope::systemReport;
using spanscope::withPeriod;

class TestProblemSentence : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void sentences_data();
  void sentences();
  void warningsExpect();
  void placesComeFirst();
  void systemErrorsAreSentences();
  void periodsAreNotDoubled();
};

void TestProblemSentence::sentences_data() {
  QTest::addColumn<QString>("found");
  QTest::addColumn<QString>("expected");
  QTest::addColumn<QString>("hint");
  QTest::addColumn<QString>("sentence");
  const auto row = [](const char* name, const char* found, const char* expected, const char* hint,
                      const char* sentence) {
    QTest::newRow(name) << QString(found) << QString(expected) << QString(hint)
                        << QString::fromUtf8(sentence);
  };
  row("nothing", "", "", "", "");
  row("two nouns", "9", "a digit below 6", "", "Spanscope found 9, but needs a digit below 6");
  row("the first only", "two names", "", "", "Spanscope found two names");
  row("the second only", "", "one name", "", "Spanscope needs one name");
  row("nouns and a hint", "'a'", "a value", "use other quotes",
      "Spanscope found 'a', but needs a value. Use other quotes.");
  row("a hint that begins with a name", "b", "c", "max_tokens is left",
      "Spanscope found b, but needs c. max_tokens is left.");
  row("a question as a hint", "usr", "user", "did you mean \"user\"?",
      "Spanscope found usr, but needs user. Did you mean \"user\"?");
  row("two sentences", "The box is full.", "Free space.", "", "The box is full. Free space.");
  row("a sentence and a noun", "The box is full.", "space", "", "The box is full. Spanscope needs space.");
  row("a noun and a sentence", "a full disk", "Free space.", "", "Spanscope found a full disk. Free space.");
  row("a sentence that quotes first", "\"x\" is taken.", "a free name", "",
      "\"x\" is taken. Spanscope needs a free name.");
  row("a noun with a sentence of a server", "status 500: Out of memory.", "status 200", "",
      "Spanscope found status 500: Out of memory. Spanscope needs status 200.");
  row("a noun with a sentence behind it", "a store", "an empty box. Take a new box", "",
      "Spanscope found a store, but needs an empty box. Take a new box.");
  row("a number and a period", "no step", "a heading \"## 1. Title\"", "",
      "Spanscope found no step, but needs a heading \"## 1. Title\"");
  row("an ellipsis", "a list", "{\"seq\": …", "", "Spanscope found a list, but needs {\"seq\": …");
}

void TestProblemSentence::sentences() {
  QFETCH(QString, found);
  QFETCH(QString, expected);
  QFETCH(QString, hint);
  QTEST(QString::fromStdString(
            problemSentence(found.toStdString(), expected.toStdString(), hint.toStdString())),
        "sentence");
}

void TestProblemSentence::warningsExpect() {
  QCOMPARE(problemSentence("9", "8", {}, Severity::Warning), std::string("Spanscope found 9, but expects 8"));
}

void TestProblemSentence::placesComeFirst() {
  QCOMPARE((Error{"a.json", "/g", "9", "8"}.message()),
           std::string("a.json: /g: Spanscope found 9, but needs 8"));
  QCOMPARE((Error{"a.json", {}, "This file is empty.", {}}.message()),
           std::string("a.json: This file is empty."));
  QCOMPARE((Error{{}, {}, "9", {}}.message()), std::string("Spanscope found 9"));
}

void TestProblemSentence::systemErrorsAreSentences() {
  const std::string report = systemReport(ENOENT);
  QCOMPARE(problemSentence(report, "a file"), report + " Spanscope needs a file.");
}

void TestProblemSentence::periodsAreNotDoubled() {
  QCOMPARE(withPeriod("one"), std::string("one."));
  QCOMPARE(withPeriod("one."), std::string("one."));
  QCOMPARE(withPeriod("one?"), std::string("one?"));
  QCOMPARE(withPeriod(""), std::string());
}

SPANSCOPE_TEST(tst_problem_sentence, TestProblemSentence, QCoreApplication)
#include "tst_problem_sentence.moc"
