// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/filled.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/recording.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTest>

#include <random>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::lesson;
using spanscope::product_text::worded;

namespace {

const std::string kHead = "---\ntitle: A title\nminutes: 5\nafter: what one knows\n---\n";

QStringList saidOf(const std::string& text) {
  QStringList said;
  for (const query::Diagnostic& diagnostic : diagnosticsOf(readLesson(text).faults, text))
    said << QString::fromStdString(diagnostic.located({}));
  return said;
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

}  // namespace

class TestLessonReader : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void allOfIt();
  void actionsOfTheLearner();
  void conditions();
  void reasons();
  void barsOfChoices_data();
  void barsOfChoices();
  void linesMayEndAsOnWindows();
  void faults_data();
  void faults();
  void figuresAreNoMarks_data();
  void figuresAreNoMarks();
  void allAtOnce();
  void limits_data();
  void limits();
  void anyBytes();
};

void TestLessonReader::allOfIt() {
  const std::string text =
      "---\ntitle: A: title\nminutes: 5\nafter: what one knows\nmodel: any\nqueries: a.json \"b c.json\"\n"
      "settings: policy=prefix block_size=4\n---\n\n## 1. First\n\nSome *text* with {run 1: cached tokens} "
      "of\n"
      "`{no figure} 7` and \\{braces\\}, [a part](node:/g/input).\n\n1. listed\n\n```json\n{\"n\": "
      "1}\n```\n\n"
      "```do\nopen a.json\n\nrun\n```\n\n```question\nHow {run 1: policy}?\nnumber: run 1: computed "
      "tokens\n```\n\n"
      "## 2. Second\n\n```question\nWhich?\nchoice: one | run 1: cached tokens = 0\n"
      "choice: two | run 1: cached tokens > 0\n```\n\n```question\nWhere?\nblock: run 1: first missing "
      "block\n```\n"
      "\n```holds\nwhere run 1: model = \"tiny\"\nrun 1: cached tokens = 0\n```\n";
  const ReadLesson read = readLesson(text);
  QCOMPARE(saidOf(text), QStringList());
  const Lesson& lesson = read.lesson;
  QCOMPARE(lesson.head.title, std::string("A: title"));
  QCOMPARE(lesson.head.minutes, 5);
  QCOMPARE(lesson.head.model.value, std::string("any"));
  QCOMPARE(lesson.head.queries.size(), std::size_t{2});
  QCOMPARE(lesson.head.queries[1].value, std::string("b c.json"));
  QCOMPARE(lesson.head.settings.size(), std::size_t{2});
  QVERIFY((lesson.head.settings[1].value == Assignment{"block_size", "4"}));
  QCOMPARE(lesson.steps.size(), std::size_t{2});
  QCOMPARE(lesson.runs(), 1U);
  const Step& first = lesson.steps[0];
  QCOMPARE(first.title, std::string("First"));
  QCOMPARE(first.blocks.size(), std::size_t{3});
  const Prose& prose = std::get<Prose>(first.blocks[0]);
  QCOMPARE(prose.pieces.size(), std::size_t{3});
  QCOMPARE(std::get<std::string>(prose.pieces[0]), std::string("Some *text* with "));
  QCOMPARE(written(std::get<Expression>(prose.pieces[1])), std::string("run 1: cached tokens"));
  QCOMPARE(std::get<std::string>(prose.pieces[2]),
           std::string(" of\n`{no figure} 7` and {braces}, [a part](node:/g/input).\n\n1. listed\n\n```json\n"
                       "{\"n\": 1}\n```"));
  QCOMPARE(prose.links.size(), std::size_t{1});
  QCOMPARE(std::get<ActionList>(first.blocks[1]).actions.size(), std::size_t{2});
  QVERIFY(std::get<Question>(first.blocks[2]).kind == Question::Kind::Number);
  const Step& second = lesson.steps[1];
  QCOMPARE(std::get<Question>(second.blocks[0]).choices.size(), std::size_t{2});
  QVERIFY(std::get<Question>(second.blocks[1]).kind == Question::Kind::Block);
  const ClaimList& claims = std::get<ClaimList>(second.blocks[2]);
  QCOMPARE(claims.claims.size(), std::size_t{1});
  QVERIFY(claims.where && claims.where->written == "run 1: model = \"tiny\"");
}

void TestLessonReader::actionsOfTheLearner() {
  const std::string text = kHead + "\n## 1. A\n\nNow run.\n\n```try\nset policy=spans\nrun\n```\n";
  const ReadLesson read = readLesson(text);
  QCOMPARE(saidOf(text), QStringList());
  const auto& list = std::get<ActionList>(read.lesson.steps[0].blocks[1]);
  QVERIFY(list.isForLearner);
  QCOMPARE(list.actions.size(), std::size_t{2});
  QCOMPARE(read.lesson.runs(), 1U);
  // The file of the lesson has the same block.
  const std::string file = written(read.lesson);
  QVERIFY(std::get<ActionList>(readLesson(file).lesson.steps[0].blocks[1]).isForLearner);
  // The learner cannot do what only the lesson does.
  for (const char* action : {"dock tokens", "empty cache", "compare with run 1", "select block:0"}) {
    const std::string wrong = kHead + "\n## 1. A\n\nNow.\n\n```try\n" + action + "\n```\n";
    QCOMPARE(saidOf(wrong).size(), 1);
  }
}

/// Of the two texts of a block "when", a run shows one.
void TestLessonReader::conditions() {
  const std::string text =
      kHead +
      "\n## 1. A\n\nOne.\n\n```do\nrun\n```\n\n```when\nrun 1: answer contains \"yes\"\nIt says "
      "{run 1: answer}.\n\nMore.\notherwise\nNothing.\n```\n";
  const ReadLesson read = readLesson(text);
  QCOMPARE(saidOf(text), QStringList());
  const auto check = [](const Lesson& lesson) {
    const std::vector<Block>& blocks = lesson.steps[0].blocks;
    QCOMPARE(blocks.size(), std::size_t{4});
    const auto& yes = std::get<Prose>(blocks[2]);
    const auto& no = std::get<Prose>(blocks[3]);
    QVERIFY(yes.when && !yes.isOtherwise && yes.pieces.size() == 3);
    QVERIFY(no.when && no.isOtherwise && no.pieces.size() == 1);
    for (const char* answer : {"yes", "perhaps"}) {
      metrics::RunFacts facts;
      facts.answer = answer;
      facts.outcome = trace::RunOutcome::Finished;
      const FilledLesson filled = fill(lesson, {facts});
      const bool isYes = facts.answer == "yes";
      QCOMPARE(std::get<FilledProse>(filled.steps[0].blocks[2]).pieces.empty(), !isYes);
      QCOMPARE(std::get<FilledProse>(filled.steps[0].blocks[3]).pieces.empty(), isYes);
      QVERIFY(filled.failures().empty());
    }
    // Before the run, the condition is unknown.
    QCOMPARE(fill(lesson, {}).failures().size(), std::size_t{1});
  };
  check(read.lesson);
  check(readLesson(written(read.lesson)).lesson);
  for (const char* wrong :
       {"run 1: cached tokens > 0\n", "run 1: cached tokens > 0\nA.\notherwise\n", "A.\nB.\n"})
    QVERIFY(!saidOf(kHead + "\n## 1. A\n\nOne.\n\n```when\n" + wrong + "```\n").empty());
}

void TestLessonReader::reasons() {
  const std::string begin = kHead + "\n## 1. A\n\n```question\nHow many?\nnumber: run 1: blocks\n";
  const std::string text =
      begin + "why: They are {run 1: blocks} of a [part](node:/g).\n```\n\n```do\nrun\n```\n";
  const ReadLesson read = readLesson(text);
  QCOMPARE(saidOf(text), QStringList());
  const auto& question = std::get<Question>(read.lesson.steps[0].blocks[0]);
  QVERIFY(question.why && question.why->pieces.size() == 3 && question.why->links.size() == 1);
  const ReadLesson again = readLesson(written(read.lesson));
  QCOMPARE(std::get<Question>(again.lesson.steps[0].blocks[0]).why->pieces.size(), std::size_t{3});
  QCOMPARE(saidOf(begin + "why: One.\nwhy: Two.\n```\n").size(), 1);
  QCOMPARE(saidOf(begin + "why:\n```\n").size(), 1);
}

void TestLessonReader::barsOfChoices_data() {
  QTest::addColumn<QString>("line");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("comparison");
  QTest::newRow("one bar") << "a | run 1: policy = \"spans\""
                           << "a"
                           << "run 1: policy = \"spans\"";
  QTest::newRow("a bar in what is said") << "a | b | run 1: blocks = 1"
                                         << "a | b"
                                         << "run 1: blocks = 1";
  QTest::newRow("a bar in a compared text") << "a | run 1: model = \"b | c\""
                                            << "a"
                                            << "run 1: model = \"b | c\"";
  QTest::newRow("bars in both") << "a | \"b | run 1: model = \"|\""
                                << "a | \"b"
                                << "run 1: model = \"|\"";
}

void TestLessonReader::barsOfChoices() {
  QFETCH(QString, line);
  QFETCH(QString, text);
  QFETCH(QString, comparison);
  const std::string lesson =
      kHead +
      "## 1. First\n\n```do\nopen a.json\nrun\n```\n\n```question\nWhich?\nchoice: " + line.toStdString() +
      "\nchoice: z | run 1: blocks = 0\n```\n";
  const ReadLesson read = readLesson(lesson);
  QCOMPARE(saidOf(lesson), QStringList());
  const Question& question = std::get<Question>(read.lesson.steps.front().blocks.back());
  QCOMPARE(QString::fromStdString(question.choices.front().text), text);
  QCOMPARE(QString::fromStdString(question.choices.front().isRight.written), comparison);
}

void TestLessonReader::linesMayEndAsOnWindows() {
  QString text = QString::fromStdString(kHead) + "## 1. First\n\nText.\n\n```do\nrun\n```\n";
  text.replace("\n", "\r\n");
  QCOMPARE(saidOf(text.toStdString()), QStringList());
}

void TestLessonReader::faults_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("said");
  const QString head = QString::fromStdString(kHead);
  const auto row = [&](const char* name, const QString& text, const char* said) {
    QTest::newRow(name) << text << worded(said);
  };
  const QString step = head + "## 1. First\n\nText.\n";
  row("empty", "", "1:1: Spanscope found an empty file, but needs <head-lesson-begins>");
  row("no head", "# Title\n\n## 1. First\n\nText.\n",
      "1:1: Spanscope found \"# Title\", but needs <head-lesson-begins>");
  row("head without end", "---\ntitle: A\n",
      "1:1: Spanscope found <head-without-end>, but needs <line-after-front-matter>");
  row("head without a word", "---\ntitle: A\nminutes: 5\n---\n\n## 1. First\n\nText.\n",
      "4:1: Spanscope found front matter without \"after\", but needs a line \"after: …\"");
  row("unknown word", "---\ntitel: A\ntitle: A\nminutes: 5\nafter: b\n---\n## 1. First\n\nText.\n",
      "2:1: Spanscope found the word \"titel\", but needs <title-minutes-after>");
  row("word twice", "---\ntitle: A\ntitle: B\nminutes: 5\nafter: b\n---\n## 1. First\n\nText.\n",
      "3:1: Spanscope found \"title<second-time>, but needs each key once");
  row("minutes", "---\ntitle: A\nminutes: many\nafter: b\n---\n## 1. First\n\nText.\n",
      "3:10: Spanscope found \"many\", but needs <whole-number-lesson-reader> 120");
  row("no step", head, "6:1: Spanscope found no step, but needs <heading-title-first>");
  row("text before", head + "Hello.\n\n## 1. First\n\nText.\n",
      "6:1: Spanscope found <text-before-first>, but needs a heading \"## 1. Title\"");
  row("number of a step", step + "\n## 3. Third\n\nText.\n",
      "10:4: Spanscope found \"3.\", but needs \"2.<title-steps-numbered>");
  row("heading", step + "\n### More\n",
      "10:1: Spanscope found the heading \"### More\", but needs <headings-steps-title>");
  row("step without text", head + "## 1. First\n\n```do\nrun\n```\n",
      "6:1: Spanscope found <step-without-text>, but needs <learner-reads>");
  row("fence without end", step + "\n```do\nrun\n",
      "10:1: Spanscope found <fenced-block-without>, but needs a line ``` after it");
  row("empty block", step + "\n```holds\n```\n",
      "10:1: Spanscope found an empty block, but needs <a-line-in>");
  row("figure", step + "\nSo {run 1: cached} it.\n",
      "10:12: Spanscope found the metric \"cached\", but needs <name-figure>. <manuals-page-numbers>.");
  row("brace", step + "\nSo {run 1: answer it.\n",
      "10:4: Spanscope found <brace-without-end>, but needs <same-line-brace>");
  row("closing brace", step + "\nSo } it.\n",
      "10:4: Spanscope found a closing brace, but needs <brace-shown>");
  row("digit", step + "\nIt took 12 tokens, not 13.\n",
      "10:9: Spanscope found <digit-sentence>, but expects <figure-name-braces>. <no-figure-run>.");
  row("link", step + "\nSee [this](other.md).\n",
      "10:12: Spanscope found the link \"other.md\", but needs node:PATH, span:N, block:N or "
      "token:N<dock-id-address>");
  row("a dock that is not there", step + "\nSee [this](dock:other).\n",
      "10:12: Spanscope found the link \"dock:other\", but needs node:PATH, span:N, block:N or "
      "token:N<dock-id-address>");
  row("a dock selected", step + "\n```do\nselect dock:pool\n```\n",
      "11:8: Spanscope found \"dock:pool\", but needs node:PATH, span:N, block:N or token:N");
  row("time that holds", step + "\n```holds\nrun 1: time to first token < 1\n```\n",
      "11:1: Spanscope found <time-must-hold>, but needs <counts-times-differ>");
  row("condition behind", step + "\n```holds\nrun 1: blocks = 1\nwhere run 1: blocks = 2\n```\n",
      "12:1: Spanscope found <where-behind>, but needs <where-first-line>");
  row("condition alone", step + "\n```holds\nwhere run 1: blocks = 2\n```\n",
      "11:1: Spanscope found \"where\" alone, but needs <comparison-below>");
  row("condition without an end", step + "\n```holds\nwhere run 1: blocks\nrun 1: blocks = 1\n```\n",
      "11:20: Spanscope found the end, but needs =, !=, <, <=, >, >=, contains or lacks");
  row("condition without text", step + "\n```when\nrun 1: blocks = 2\n```\n",
      "11:1: Spanscope found <when-without-text>, but needs <text-after-condition>");
  row("question without answer", step + "\n```question\nHow many?\n```\n",
      "10:1: Spanscope found <question-without-answer>, but needs <line-number-block>. "
      "<run-answers-number>.");
  row("question without text", step + "\n```question\nnumber: run 1: cached tokens\n```\n",
      "10:1: Spanscope found <question-without-text>, but needs <question-above-answer>");
  row("typed answer", step + "\n```question\nHow many?\nnumber: 7\n```\n",
      "12:9: Spanscope found <number-typed>, but needs <figure-run-run>");
  row("text as a number", step + "\n```question\nHow many?\nnumber: run 1: answer\n```\n",
      "12:9: Spanscope found a metric in text, but needs <answer-is-a-number>");
  row("number as a block", step + "\n```question\nWhere?\nblock: run 1: blocks\n```\n",
      "12:8: Spanscope found a metric in blocks, but needs <answer-is-a-block>");
  row("two answers", step + "\n```question\nHow many?\nnumber: run 1: blocks\nnumber: run 1: blocks\n```\n",
      "13:1: Spanscope found a second answer, but needs <answer-several-lines>");
  row("one choice", step + "\n```question\nWhich?\nchoice: a | run 1: blocks = 1\n```\n",
      "10:1: Spanscope found one choice, but needs <two-choices>");
  row("choice without a bar", step + "\n```question\nWhich?\nchoice: a\nchoice: b | run 1: blocks = 1\n```\n",
      "12:9: Spanscope found \"a\", but needs <text-comparison-makes>");
  row("bytes", QString::fromLatin1("\xff"), "");
}

void TestLessonReader::faults() {
  QFETCH(QString, text);
  QFETCH(QString, said);
  if (std::string(QTest::currentDataTag()) == "bytes") {
    const std::string bytes = "---\ntitle: \xff\n---\n";
    QCOMPARE(QString::fromStdString(readLesson(bytes).faults.at(0).found), worded("<bytes-no-utf>"));
    return;
  }
  const QStringList found = saidOf(text.toStdString());
  QVERIFY2(found.contains(said), qPrintable(found.join('\n')));
}

/// What the figure's value would be to Markdown, where it is not what was meant.
void TestLessonReader::figuresAreNoMarks_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("said");
  const QString point = worded("a metric before \".<beginning-line>");
  const QString code = worded("<figure-code-shown>");
  const QString fine;
  QTest::newRow("an entry of a list") << "{run 1: blocks}. They are" << point;
  QTest::newRow("in the middle of a paragraph") << "There are\n{run 1: blocks}. They are" << point;
  QTest::newRow("reckoned") << "{run 1: blocks + run 1: hit blocks}. They are" << point;
  QTest::newRow("with a bracket") << "{run 1: blocks}) They are"
                                  << worded("a metric before \")<beginning-line>");
  QTest::newRow("alone") << "{run 1: blocks}." << point;
  QTest::newRow("in an entry") << "- {run 1: blocks}. They are" << point;
  QTest::newRow("in a numbered entry") << "2. {run 1: blocks}. They are" << point;
  QTest::newRow("in a quotation") << ">{run 1: blocks}. They are" << point;
  QTest::newRow("at the end of a paragraph") << "There are\n{run 1: blocks}." << fine;
  QTest::newRow("behind a word") << "All {run 1: blocks}. They are" << fine;
  QTest::newRow("in bold") << "**{run 1: blocks}**. They are" << fine;
  QTest::newRow("with a unit") << "{run 1: hit rate}. It is" << fine;
  QTest::newRow("a decimal point that is none") << "{run 1: blocks}.They" << fine;
  QTest::newRow("a text") << "{run 1: answer}. It is" << fine;
  QTest::newRow("code") << "It is `{run 1: blocks}` of them" << code;
  QTest::newRow("code with more in it") << "It is `a {b} {run 1: blocks}`" << code;
  QTest::newRow("a block of code") << "```\nn = {run 1: blocks}\n```" << code;
  QTest::newRow("code of another kind") << "It is `{\"a\": {run 1}}` and `{x}`" << fine;
  QTest::newRow("an address") << "[here](https://a.b/{run 1: blocks})" << worded("<figure-address-link>");
  QTest::newRow("the number of a block")
      << "[here](block:{run 1: first missing block})" << worded("<figure-address-link>");
  QTest::newRow("the words of a link") << "[{run 1: blocks} blocks](dock:pool)" << fine;
}

void TestLessonReader::figuresAreNoMarks() {
  QFETCH(QString, text);
  QFETCH(QString, said);
  QStringList found;
  for (const Fault& fault : readLesson(kHead + "## 1. First\n\n" + text.toStdString() + "\n").faults)
    found << QString::fromStdString(fault.found);
  QCOMPARE(found, said.isEmpty() ? QStringList() : QStringList(said));
}

void TestLessonReader::allAtOnce() {
  const std::string text =
      kHead +
      "## 1. First\n\nA {run 1: nothing} and {run x: answer}.\n\n```do\njump\ndock nowhere\n```\n"
      "\n```holds\nrun 1: answer\n```\n";
  const QStringList said = saidOf(text);
  QCOMPARE(said.size(), 5);
  QVERIFY(said[0].startsWith("8:11: ") && said[1].startsWith("8:29: ") && said[2].startsWith("11:1: ") &&
          said[3].startsWith("12:6: ") && said[4].startsWith("16:14: "));
}

void TestLessonReader::limits_data() {
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("found");
  const std::string step = kHead + "## 1. First\n\nText.\n\n";
  const auto row = [](const char* name, const std::string& text, const QString& found) {
    QTest::newRow(name) << QString::fromStdString(text) << found;
  };
  row("bytes", std::string(kMaxBytes + 1, 'a'), QString("more than %1 bytes").arg(kMaxBytes));
  std::string steps = kHead;
  for (std::size_t i = 1; i <= kMaxSteps + 1; ++i) steps += "## " + std::to_string(i) + ". S\n\nText.\n\n";
  row("steps", steps, QString("more than %1 steps").arg(kMaxSteps));
  row("actions", step + "```do\n" + repeated("run\n", kMaxActions + 1) + "```\n",
      QString("more than %1 actions in one step").arg(kMaxActions));
  row("blocks", step + repeated("```do\nrun\n```\n", kMaxBlocks),
      QString("more than %1 blocks in one step").arg(kMaxBlocks));
  row("text", kHead + "## 1. First\n\n" + repeated("words ", kMaxStepText / 6 + 1) + "\n",
      worded("%1 characters <text-step>").arg((kMaxStepText / 6 + 1) * 6));
  row("choices",
      step + "```question\nWhich?\n" + repeated("choice: a | run 1: blocks = 1\n", kMaxChoices + 1) + "```\n",
      QString("more than %1 choices").arg(kMaxChoices));
  row("queries",
      "---\ntitle: A\nminutes: 1\nafter: b\nqueries: " + repeated("a.json ", kMaxQueries + 1) + "\n---\n",
      QString("more than %1 queries").arg(kMaxQueries));
}

void TestLessonReader::limits() {
  QFETCH(QString, text);
  QFETCH(QString, found);
  std::vector<std::string> said;
  for (const Fault& fault : readLesson(text.toStdString()).faults) said.push_back(fault.found);
  QVERIFY2(std::find(said.begin(), said.end(), found.toStdString()) != said.end(),
           said.empty() ? "nothing" : said.front().c_str());
}

/// For any content of a lesson: a result, no crash, and faults within the text.
void TestLessonReader::anyBytes() {
  const std::string pieces[] = {"---\n",
                                "## 1. A\n",
                                "```do\n",
                                "```\n",
                                "```question\n",
                                "```holds\n",
                                "run\n",
                                "{run 1: answer}",
                                "\\{",
                                "`",
                                "](",
                                "choice: ",
                                "|",
                                "\n",
                                "run 1: blocks = ",
                                "\"",
                                "edit /g ",
                                "(",
                                "}",
                                "9",
                                "number: ",
                                "---",
                                "\r\n"};
  std::mt19937 random(20'26);
  for (int i = 0; i < 3000; ++i) {
    std::string text = i % 2 == 0 ? kHead : std::string();
    const auto length = random() % 40;
    for (std::size_t n = 0; n < length; ++n) text += pieces[random() % std::size(pieces)];
    const ReadLesson read = readLesson(text);
    for (const Fault& fault : read.faults) {
      QVERIFY2(fault.offset <= text.size(), text.c_str());
      QVERIFY2(!fault.found.empty() && !fault.expected.empty(), text.c_str());
    }
    diagnosticsOf(read.faults, text);
  }
}

SPANSCOPE_TEST(tst_lesson_reader, TestLessonReader)
#include "tst_lesson_reader.moc"
