// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/expression.h"
#include "engine/lesson/lesson.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QTest>

#include <optional>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::lesson;
using spanscope::product_text::worded;

namespace {

/// Run 1 computed 80 tokens and answered "yes"; run 2 found 60 of 90.
const metrics::RunFacts* factsOfRun(std::uint32_t run) {
  static const std::vector<metrics::RunFacts> runs = [] {
    std::vector<metrics::RunFacts> made(2);
    for (metrics::RunFacts& one : made) one.requests.resize(1);
    made[0].account.prompt.computed = 80;
    made[0].measured.timeToFirstToken = 0.08;
    made[0].outcome = trace::RunOutcome::Finished;
    made[0].answer = "yes, it is";
    made[1].account.prompt.hit = 60;
    made[1].account.prompt.computed = 30;
    made[1].measured.timeToFirstToken = 0.02;
    return made;
  }();
  return run >= 1 && run <= runs.size() ? &runs[run - 1] : nullptr;
}

QString valueOf(const std::string& text) {
  std::vector<Fault> faults;
  const std::optional<Expression> expression = readExpression(text, 0, faults);
  if (!expression) return "fault: " + QString::fromStdString(faults.empty() ? "none" : faults[0].found);
  const Evaluated value = evaluate(*expression, factsOfRun);
  if (const auto* missing = std::get_if<Missing>(&value))
    return "missing: " + QString::fromStdString(missing->reason);
  return QString::fromStdString(textOf(*expression, std::get<metrics::Value>(value)));
}

}  // namespace

class TestLessonExpression : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void values_data();
  void values();
  void comparisons_data();
  void comparisons();
  void faults_data();
  void faults();
  void isReadAsItIsWritten_data();
  void isReadAsItIsWritten();
  void thereIsALimit();
};

void TestLessonExpression::values_data() {
  QTest::addColumn<QString>("value");
  const auto row = [](const char* text, const char* value) { QTest::newRow(text) << worded(value); };
  row("run 1: computed tokens", "80");
  row("  run 2:   cached   tokens ", "60");
  row("run 2: cached tokens + run 2: computed tokens", "90");
  row("run 1: computed tokens / 2 + run 2: computed tokens", "70");
  row("run 1: computed tokens - 10 * 2", "60");
  row("( run 1: computed tokens - 10 ) * 2", "140");
  row("(run 1: computed tokens - 10) * 2", "140");
  // A run without a name repeats the figure before it.
  row("run 1: computed tokens / run 2", "2.7");
  row("run 1: time to first token / run 2", "4");
  row("run 1: time to first token", "80 ms");
  row("run 1: time to first token - run 2", "60 ms");
  row("run 1: time to first token * 2", "160 ms");
  row("run 1: answer", "yes, it is");
  row("run 2: hit rate", "67\u00A0%");
  row("run 3: computed tokens", "missing: run 3 <not-run>");
  row("run 2: answer", "missing: run 2 has no answer");
  row("run 1: divergence", "missing: the fidelity of run 1 was not measured");
  row("run 1: cached tokens of node:/g", "missing: no prompt of run 1 shows the node /g");
  row("run 1: computed tokens / run 1: cached tokens", "missing: run 1: cached tokens <nothing-can-divided>");
}

void TestLessonExpression::values() {
  QFETCH(QString, value);
  QCOMPARE(valueOf(QTest::currentDataTag()), value);
}

void TestLessonExpression::comparisons_data() {
  QTest::addColumn<bool>("expected");
  const auto row = [](const char* text, bool expected) { QTest::newRow(text) << expected; };
  row("run 1: computed tokens = 80", true);
  row("run 1: computed tokens != 80", false);
  row("run 1: computed tokens > run 2", true);
  row("run 2: computed tokens >= 30", true);
  row("run 2: computed tokens > 30", false);
  row("run 2: computed tokens <= 30", true);
  row("run 2: computed tokens < 30", false);
  row("run 1: prompts * 20 < run 1: computed tokens", true);
  row("run 1: answer contains \"yes\"", true);
  row("run 1: answer contains \"no\"", false);
  row("run 1: answer lacks \"no\"", true);
  row("run 1: answer lacks \"yes\"", false);
  row("run 1: answer = \"yes, it is\"", true);
  row("run 1: computed tokens = run 2: cached tokens + 20", true);
}

void TestLessonExpression::comparisons() {
  QFETCH(bool, expected);
  std::vector<Fault> faults;
  const std::optional<Comparison> comparison = readComparison(QTest::currentDataTag(), 0, faults);
  QVERIFY2(comparison, faults.empty() ? "" : faults[0].found.c_str());
  const auto said = holds(*comparison, factsOfRun);
  QVERIFY(std::holds_alternative<bool>(said));
  QCOMPARE(std::get<bool>(said), expected);
}

void TestLessonExpression::faults_data() {
  QTest::addColumn<int>("column");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* text, int column, const char* found) {
    QTest::newRow(text) << column << worded(found);
  };
  row("", 0, "the end");
  row("run", 3, "the end");
  row("run 0: cached tokens", 4, "\"0:\"");
  row("run x: cached tokens", 4, "\"x:\"");
  row("run 1", 0, "<run-without-name>");
  row("run 1:", 6, "<no-name-figure>");
  row("run 1: cashed tokens", 7, "the metric \"cashed tokens\"");
  row("run 1: cached tokens of", 23, "the end");
  row("run 1: cached tokens of /g", 24, "\"/g\"");
  row("run 1: evicted blocks of node:/g", 7, "the evicted blocks of a node");
  row("run 1: position", 7, "the position of a run");
  row("run 1: cached tokens + run 1: time to first token", 21, "tokens and ms");
  row("run 1: whole run * run 1: time to first token", 17, "ms and ms");
  row("run 1: whole run / run 1: cached tokens", 17, "ms and tokens");
  row("run 1: answer + 1", 14, "text and number");
  row("run 1: cached tokens +", 22, "the end");
  row("cached tokens", 0, "\"cached\"");
  row("( run 1: cached tokens", 22, "the end");
  row("run 1: cached tokens )", 21, "\")\"");
  row("\"yes", 0, "<text-without-end>");
  row("inf", 0, "\"inf\"");
  row("nan", 0, "\"nan\"");
  row("1e400", 0, "\"1e400\"");
}

void TestLessonExpression::faults() {
  QFETCH(int, column);
  QFETCH(QString, found);
  std::vector<Fault> faults;
  constexpr Offset kBegin = 100;
  QVERIFY(!readExpression(QTest::currentDataTag(), kBegin, faults));
  QCOMPARE(faults.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(faults[0].found), found);
  QCOMPARE(static_cast<int>(faults[0].offset - kBegin), column);
  QVERIFY(!faults[0].expected.empty());
}

void TestLessonExpression::isReadAsItIsWritten_data() {
  QTest::addColumn<QString>("text");
  const auto row = [](const char* given, const char* text) { QTest::newRow(given) << QString(text); };
  row("run 1: cached tokens", "run 1: cached tokens");
  row("run 1: time to first token / run 2", "run 1: time to first token / run 2: time to first token");
  row("( run 1: cached tokens + 1 ) * 2", "(run 1: cached tokens + 1) * 2");
  row("run 1: cached tokens - ( 1 + 2 )", "run 1: cached tokens - (1 + 2)");
  row("run 1: cached tokens / 2 / 4", "run 1: cached tokens / 2 / 4");
  row("run 1: position of node:/g/input", "run 1: position of node:/g/input");
  row("\"a b\"", "\"a b\"");
}

void TestLessonExpression::isReadAsItIsWritten() {
  QFETCH(QString, text);
  std::vector<Fault> faults;
  const std::optional<Expression> read = readExpression(QTest::currentDataTag(), 0, faults);
  QVERIFY(read);
  QCOMPARE(QString::fromStdString(written(*read)), text);
  const std::optional<Expression> again = readExpression(written(*read), 0, faults);
  QVERIFY(again);
  QCOMPARE(written(*again), written(*read));
}

void TestLessonExpression::thereIsALimit() {
  std::vector<Fault> faults;
  std::string text = "1";
  for (std::size_t i = 1; i < kMaxTerms; ++i) text += " + 1";
  QVERIFY(readExpression(text, 0, faults));
  QVERIFY(!readExpression(text + " + 1", 0, faults));
  QCOMPARE(QString::fromStdString(faults.back().found),
           QString("more than %1 metrics and numbers").arg(kMaxTerms));
  // Brackets count too, so that nothing nests deeper.
  QVERIFY(!readExpression(std::string(100'000, '('), 0, faults));
}

SPANSCOPE_TEST(tst_lesson_expression, TestLessonExpression)
#include "tst_lesson_expression.moc"
