// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/actions.h"
#include "engine/lesson/lesson.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTest>

#include <set>
#include <string>
#include <vector>

using namespace spanscope::lesson;
using spanscope::product_text::worded;

class TestLessonActions : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyActionHasItsWords();
  void linesAreReadAsTheyAreWritten_data();
  void linesAreReadAsTheyAreWritten();
  void faults_data();
  void faults();
  void theManualListsThem();
  void theManualSaysTheLimits();
};

/// Each row of the table is whole, no words begin others, and its example is one of it.
void TestLessonActions::everyActionHasItsWords() {
  std::set<std::string> words;
  for (const ActionInfo& info : actions()) {
    QVERIFY2(words.insert(info.words).second, info.words);
    QVERIFY2(*info.help != '\0', info.words);
    QVERIFY2(QString(info.help).back() != '.', info.words);
    QCOMPARE(infoOf(info.kind).words, info.words);
    std::vector<Fault> faults;
    const auto action = readAction(info.example, 0, faults);
    QVERIFY2(action, faults.empty() ? info.words : faults[0].found.c_str());
    QCOMPARE(action->kind, info.kind);
    QCOMPARE(QString::fromStdString(written(*action)), QString(info.example));
    for (const ArgumentInfo& argument : info.arguments) QVERIFY(*argumentHelp(argument.kind) != '\0');
  }
  QCOMPARE(words.size(), std::size_t{15});
}

void TestLessonActions::linesAreReadAsTheyAreWritten_data() {
  QTest::addColumn<QString>("line");
  const auto row = [](const char* given, const char* line) { QTest::newRow(given) << QString(line); };
  row("open a.json", "open a.json");
  row("  run  ", "run");
  row("select span:2", "select span:2");
  row("select block:3", "select block:3");
  row("select block:0", "select block:0");
  row("select token:17", "select token:17");
  row("select node:", "select node:");
  row("scrub event:148", "scrub event:148");
  row("scrub event:token_generated", "scrub event:token_generated");
  row("scrub start", "scrub start");
  row("wait for end", "wait for end");
  row("edit /g/input \"a \\\"b\\\"\\n\\\\\"", "edit node:/g/input \"a \\\"b\\\"\\n\\\\\"");
  row("set reduce_prompt=a b = c", "set reduce_prompt=a b = c");
  row("set policy=blend(0.15,by=values)", "set policy=blend(0.15,by=values)");
  row("measure fidelity run 2", "measure fidelity run 2");
  row("compare with run  12", "compare with run 12");
  row("swap /g/a node:/g/b", "swap node:/g/a node:/g/b");
}

void TestLessonActions::linesAreReadAsTheyAreWritten() {
  QFETCH(QString, line);
  std::vector<Fault> faults;
  const auto action = readAction(QTest::currentDataTag(), 0, faults);
  QVERIFY2(action, faults.empty() ? "" : faults[0].found.c_str());
  QCOMPARE(QString::fromStdString(written(*action)), line);
  const auto again = readAction(written(*action), 0, faults);
  QVERIFY(again);
  QCOMPARE(written(*again), written(*action));
}

void TestLessonActions::faults_data() {
  QTest::addColumn<int>("column");
  QTest::addColumn<QString>("found");
  const auto row = [](const char* line, int column, const char* found) {
    QTest::newRow(line) << column << worded(found);
  };
  row("jump", 0, "the action \"jump\"");
  row("opened a.json", 0, "the action \"opened\"");
  row("open", 4, "<end-line>");
  row("run twice", 4, "\"twice\"");
  row("layout learn", 7, "\"learn\"");
  row("dock tokenz", 5, "\"tokenz\"");
  row("select node", 7, "\"node\"");
  row("select node:g", 7, "\"node:g\"");
  row("select block:99999999999999999999999", 7, "\"block:99999999999999999999999\"");
  row("scrub event:no_such", 6, "\"event:no_such\"");
  row("scrub later", 6, "\"later\"");
  row("zoom 200", 5, "\"200\"");
  row("set policy", 4, "\"policy\"");
  row("set =x", 4, "\"=x\"");
  row("edit /g", 7, "<end-line>");
  row("edit /g words", 8, "\"words\"");
  row("edit /g \"words", 8, "<text-without-end>");
  row("edit /g \"a\\t\"", 10, "\"\\t\"");
  row("edit span:1 \"a\"", 5, "\"span:1\"");
  row("compare with 1", 13, "\"1\"");
  row("compare with run 0", 13, "\"run\"");
  row("experiment none", 11, "\"none\"");
}

void TestLessonActions::faults() {
  QFETCH(int, column);
  QFETCH(QString, found);
  std::vector<Fault> faults;
  constexpr Offset kBegin = 50;
  QVERIFY(!readAction(QTest::currentDataTag(), kBegin, faults));
  QCOMPARE(faults.size(), std::size_t{1});
  QCOMPARE(QString::fromStdString(faults[0].found), found);
  QCOMPARE(static_cast<int>(faults[0].offset - kBegin), column);
  QVERIFY(!faults[0].expected.empty());
}

namespace {

QString manual() {
  QFile file(SPANSCOPE_SOURCE_DIR "/resources/manual/lessons.md");
  return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

}  // namespace

/// A row of the manual's table says of each action what the table here says.
void TestLessonActions::theManualListsThem() {
  QStringList rows;
  for (const QString& line : manual().section("\n### Actions\n", 1).section("\n### ", 0, 0).split('\n')) {
    if (line.startsWith("| `")) rows << line;
  }
  QStringList expected;
  for (const ActionInfo& info : actions()) {
    QStringList with;
    for (const ArgumentInfo& argument : info.arguments) {
      with << QString("%1%2: %3")
                  .arg(argument.name, argument.isOptional ? ", optional" : "", argumentHelp(argument.kind));
    }
    expected << QString("| `%1` | %2 | %3 | `%4` |")
                    .arg(info.words, with.isEmpty() ? QString("–") : with.join("; "), info.help,
                         info.example);
  }
  QCOMPARE(rows.join('\n'), expected.join('\n'));
}

void TestLessonActions::theManualSaysTheLimits() {
  const QString limits = manual().section("\n### Limits\n", 1);
  const QStringList expected{
      QString("%1 KiB, %2 steps, %3 runs, %4 queries, %5 minutes")
          .arg(kMaxBytes / 1024)
          .arg(kMaxSteps)
          .arg(kMaxRuns)
          .arg(kMaxQueries)
          .arg(kMaxMinutes),
      QString("%1 blocks, %2 actions, %3 characters").arg(kMaxBlocks).arg(kMaxActions).arg(kMaxStepText),
      QString("%1 choices").arg(kMaxChoices), QString("%1 metrics").arg(kMaxTerms)};
  for (const QString& limit : expected) QVERIFY2(limits.contains(limit), qPrintable(limit));
}

SPANSCOPE_TEST(tst_lesson_actions, TestLessonActions)
#include "tst_lesson_actions.moc"
