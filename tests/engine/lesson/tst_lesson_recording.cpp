// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/lesson_folder.h"
#include "engine/lesson/lesson_run.h"
#include "engine/lesson/lesson_state.h"
#include "engine/lesson/recording.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QTest>

#include <array>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::lesson;

namespace {

/// A desk on which the bundled query is open.
void begin(LessonState& desk) {
  std::vector<Fault> faults;
  Head head;
  head.queries.push_back({"example:rag.json", 0});
  desk.begin(head, faults);
  desk.apply(*readAction("open example:rag.json", 0, faults), faults);
}

document::NodeId idAt(const document::Document& document, const char* path) {
  return document::toQuery(document, document::TakeOut::Nothing).paths.byPath.at(path);
}

void setText(document::Document& document, const char* path, const char* text) {
  const document::NodeId id = idAt(document, path);
  query::Node own = document.at(id).own;
  *query::textOf(own) = text;
  document::setOwn(document, id, std::move(own));
}

Action action(const char* line) {
  std::vector<Fault> faults;
  return *readAction(line, 0, faults);
}

Head headOfRag() {
  Head head;
  head.title = "T";
  head.after = "a";
  head.minutes = 5;
  head.queries.push_back({"example:rag.json", 0});
  return head;
}

}  // namespace

class TestLessonRecording : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void changesBecomeActions_data();
  void changesBecomeActions();
  void valuesAreReadAgain();
  void actionsOfAStepAreGathered_data();
  void actionsOfAStepAreGathered();
  void recordedStepsAreALesson();
  void questionsAndClaimsAreRecorded();
  void partsAreThereWhenTheTextSpeaksOfThem();
  void lessonsAreReadAsTheyAreWritten_data();
  void lessonsAreReadAsTheyAreWritten();
};

using Change = std::function<void(document::Document&)>;
Q_DECLARE_METATYPE(Change)

void TestLessonRecording::changesBecomeActions_data() {
  QTest::addColumn<Change>("change");
  QTest::addColumn<QStringList>("lines");
  QTest::addColumn<bool>("isWhole");
  const auto row = [](const char* name, Change change, const QStringList& lines, bool isWhole = true) {
    QTest::newRow(name) << std::move(change) << lines << isWhole;
  };
  const auto swap = [](document::Document& document) {
    document::swapChildren(document, idAt(document, "/g/input/cross/1"), 0, 2);
  };
  row("nothing", [](document::Document&) {}, {});
  row("a text",
      [](document::Document& document) { setText(document, "/g/input/cross/2", "Say \"a\".\nNow."); },
      {"edit node:/g/input/cross/2 \"Say \\\"a\\\".\\nNow.\""});
  row("an exchange", swap, {"swap node:/g/input/cross/1/plus/0 node:/g/input/cross/1/plus/2"});
  row("an exchange and a text behind it",
      [swap](document::Document& document) {
        swap(document);
        setText(document, "/g/input/cross/1/plus/0", "x");
      },
      {"swap node:/g/input/cross/1/plus/0 node:/g/input/cross/1/plus/2",
       "edit node:/g/input/cross/1/plus/0 \"x\""});
  row("settings",
      [](document::Document& document) {
        document.settings.policy = "prefix";
        document.settings.layers = {0, 3};
      },
      {"set policy=prefix", "set layers=0,3"});
  row(
      "a setting of the machine", [](document::Document& document) { document.settings.threads = 3; }, {},
      false);
  row(
      "a new node",
      [](document::Document& document) { document::addNode(document, query::makeOperator("user")); }, {},
      false);
  row(
      "a muted node",
      [](document::Document& document) {
        document::setMuted(document, {idAt(document, "/g/input/cross/1/plus/0")}, true);
      },
      {}, false);
  row("where a node stands on the canvas",
      [](document::Document& document) {
        document::setPosition(document, document.root(), document::Point{3, 4});
      },
      {});
}

/// The actions are those, and carried out they make the changed document of the other.
void TestLessonRecording::changesBecomeActions() {
  QFETCH(Change, change);
  QFETCH(QStringList, lines);
  QFETCH(bool, isWhole);
  const LessonFolder folder({});
  LessonState desk(folder);
  begin(desk);
  document::Document after = desk.document();
  change(after);
  const RecordedChange recorded = actionsBetween(desk.document(), after);
  QStringList written;
  for (const Action& action : recorded.actions) written << QString::fromStdString(lesson::written(action));
  QCOMPARE(written, lines);
  QCOMPARE(recorded.isWhole, isWhole);
  if (!isWhole) return;
  std::vector<Fault> faults;
  for (const Action& action : recorded.actions) desk.apply(action, faults);
  QVERIFY(faults.empty());
  const auto queryOf = [](const document::Document& document) {
    return document::toQuery(document, document::TakeOut::Nothing).query;
  };
  QVERIFY(queryOf(desk.document()) == queryOf(after));
  QCOMPARE(desk.settings().policy, after.settings.policy);
  QCOMPARE(desk.settings().layers, after.settings.layers);
}

void TestLessonRecording::valuesAreReadAgain() {
  workbench::RunSettings settings;
  settings.policy = "blend(0.3,by=values)";
  settings.seed = ~std::uint64_t{0};
  settings.observe = false;
  settings.reducePrompt = "a b = c";
  settings.layers = {1, 2};
  for (const workbench::Setting& setting : workbench::runSettings()) {
    if (!mayBeSet(setting)) continue;
    workbench::RunSettings read;
    const auto wrong = assign(read, {std::string(setting.key), valueText(setting, settings)});
    QVERIFY2(!wrong, std::string(setting.key).c_str());
    std::visit([&](auto member) { QVERIFY(read.*member == settings.*member); }, setting.member);
  }
}

void TestLessonRecording::actionsOfAStepAreGathered_data() {
  QTest::addColumn<QString>("done");
  QTest::addColumn<QString>("kept");
  const auto row = [](const char* name, const char* done, const char* kept) {
    QTest::newRow(name) << QString::fromLatin1(done) << QString::fromLatin1(kept);
  };
  row("the last selection counts", "select block:1;select block:2;select token:3", "select token:3");
  row("what was selected before a run stays", "select block:1;run;select block:2",
      "select block:1;run;select block:2");
  row("the last moment and the last zoom", "scrub event:3;zoom in;scrub event:4;zoom all",
      "scrub event:4;zoom all");
  row("docks are gathered, each once", "dock pool;dock why;dock pool", "dock why;dock pool");
  row("a layout begins anew", "dock pool;layout explain;dock pool", "dock pool;layout explain;dock pool");
  row("the same layout twice", "layout explain;layout explain", "layout explain");
  row("two runs are two", "run;run", "run;run");
  row("an exchange and its return",
      "swap /g/input/cross/0 /g/input/cross/1;swap /g/input/cross/0 /g/input/cross/1",
      "swap node:/g/input/cross/0 node:/g/input/cross/1;swap node:/g/input/cross/0 node:/g/input/cross/1");
}

void TestLessonRecording::actionsOfAStepAreGathered() {
  QFETCH(QString, done);
  QFETCH(QString, kept);
  std::vector<Action> actions;
  std::vector<Fault> faults;
  for (const QString& line : done.split(QLatin1Char(';'))) {
    std::optional<Action> action = readAction(line.toStdString(), 0, faults);
    QVERIFY2(action.has_value(), qPrintable(line));
    addAction(actions, std::move(*action));
  }
  QStringList lines;
  for (const Action& action : actions) lines << QString::fromStdString(written(action));
  QCOMPARE(lines.join(QLatin1Char(';')), kept);
}

void TestLessonRecording::recordedStepsAreALesson() {
  std::vector<Fault> faults;
  const auto action = [&faults](const char* line) { return *readAction(line, 0, faults); };
  Head head;
  head.title = "Two\nlines";
  head.minutes = 5;
  head.queries.push_back({"example:rag.json", 0});
  workbench::RunSettings settings;
  settings.blockSize = 4;
  for (const Assignment& setting : settingsUnlike(settings, {})) head.settings.push_back({setting, 0});
  std::vector<RecordedStep> steps(2);
  steps[0] = {.title = "One",
              .text = "Read this.\n",
              .question = {.kind = Question::Kind::Number,
                           .text = "How many?",
                           .answer = "run 1: computed tokens",
                           .choices = {}},
              .actions = {action("open example:rag.json"), action("layout explain"), action("run"),
                          action("dock pool")},
              .after = "It was {run 1: computed tokens}.",
              .holds = {}};
  steps[1].text = "The end.";
  const std::string text = written(head, steps);
  const ReadLesson read = readLesson(text);
  for (const query::Diagnostic& diagnostic : diagnosticsOf(read.faults, text))
    QFAIL(diagnostic.located("recorded").c_str());
  QCOMPARE(read.lesson.head.title, std::string("Two lines"));
  QCOMPARE(read.lesson.head.settings.size(), std::size_t{1});
  QCOMPARE(read.lesson.steps.size(), std::size_t{2});
  // The question is before the run that answers it, and the result after it.
  const std::vector<Block>& blocks = read.lesson.steps[0].blocks;
  QCOMPARE(blocks.size(), std::size_t{5});
  QCOMPARE(std::get<ActionList>(blocks[1]).actions.size(), std::size_t{2});
  QVERIFY(std::holds_alternative<Question>(blocks[2]));
  QCOMPARE(std::get<ActionList>(blocks[3]).actions.size(), std::size_t{2});
  QVERIFY(std::holds_alternative<Prose>(blocks[4]));
}

/// The user's input in the fields, with spaces and line ends where none belong.
void TestLessonRecording::questionsAndClaimsAreRecorded() {
  const Head head = headOfRag();
  std::vector<RecordedStep> steps(2);
  steps[0].text = "Read this.";
  steps[0].question = {.kind = Question::Kind::Choice,
                       .text = "\nWhat happens?\n\nThink first.\n",
                       .answer = "run 1: computed tokens",  // of another kind, and left out
                       .choices = {{"It is\nfound", " run 1: cached tokens > 0 "},
                                   {"It is read", "run 1: cached tokens = 0"}}};
  steps[0].actions = {action("open example:rag.json"), action("run")};
  steps[0].holds = "run 1: cached tokens = 0\n\n  run 1: answer contains \"a\"\n";
  steps[1].text = "Now a block.";
  steps[1].question = {.kind = Question::Kind::Block,
                       .text = "Which?",
                       .answer = "run 2: first missing block",
                       .choices = {{"left out", ""}}};
  steps[1].actions = {action("run")};
  const std::string text = written(head, steps);
  const ReadLesson read = readLesson(text);
  for (const query::Diagnostic& diagnostic : diagnosticsOf(read.faults, text))
    QFAIL(diagnostic.located("recorded").c_str());
  const std::vector<Block>& first = read.lesson.steps[0].blocks;
  QCOMPARE(first.size(), std::size_t{5});
  const auto& choice = std::get<Question>(first[2]);
  QVERIFY(choice.kind == Question::Kind::Choice && !choice.answer);
  QCOMPARE(std::get<std::string>(choice.text.pieces[0]), std::string("What happens?\nThink first."));
  QCOMPARE(choice.choices.size(), std::size_t{2});
  QCOMPARE(choice.choices[0].text, std::string("It is found"));
  QCOMPARE(choice.choices[1].isRight.written, std::string("run 1: cached tokens = 0"));
  const auto& claims = std::get<ClaimList>(first[4]);
  QCOMPARE(claims.claims.size(), std::size_t{2});
  QCOMPARE(claims.claims[1].written, std::string("run 1: answer contains \"a\""));
  const auto& block = std::get<Question>(read.lesson.steps[1].blocks[1]);
  QVERIFY(block.kind == Question::Kind::Block && block.choices.empty());
  QCOMPARE(written(*block.answer), std::string("run 2: first missing block"));
}

/// A text with a link to a node is after the action that opens its query. Otherwise the lesson would be
/// invalid.
void TestLessonRecording::partsAreThereWhenTheTextSpeaksOfThem() {
  const Head head = headOfRag();
  std::vector<RecordedStep> steps(1);
  steps[0].text = "See [the question](node:/g/input/cross/2) and [the pool](dock:pool).";
  steps[0].question = {
      .kind = Question::Kind::Number, .text = "How many?", .answer = "run 1: computed tokens", .choices = {}};
  steps[0].actions = {action("open example:rag.json"), action("layout explain"), action("run")};
  steps[0].after = "See [a block](block:0).";
  const LessonFolder folder({});
  const auto kindsOf = [&](const std::string& text) {
    const ReadLesson read = readLesson(text);
    std::vector<Fault> found = read.faults;
    const std::vector<Fault> checked = checkLesson(read.lesson, folder);
    found.insert(found.end(), checked.begin(), checked.end());
    QStringList kinds;
    for (const query::Diagnostic& diagnostic : diagnosticsOf(found, text))
      kinds << QString::fromStdString(diagnostic.located("recorded"));
    for (const Block& block : read.lesson.steps[0].blocks)
      kinds << QString::fromLatin1(std::array{"text", "do", "question", "holds"}[block.index()]);
    return kinds;
  };
  const QStringList shownFirst{"do", "text", "question", "do", "text"};
  QCOMPARE(kindsOf(written(head, steps)), shownFirst);
  steps[0].text = "See [the pool](dock:pool).";
  const QStringList readFirst{"text", "do", "question", "do", "text"};
  QCOMPARE(kindsOf(written(head, steps)), readFirst);
}

void TestLessonRecording::lessonsAreReadAsTheyAreWritten_data() {
  QTest::addColumn<QString>("text");
  for (const BundledLesson& one : bundledLessons())
    QTest::newRow(one.file.filename().string().c_str()) << QString::fromStdString(readLessonFile(one.file));
  QTest::newRow("braces and blanks")
      << "---\ntitle: A\nminutes: 1\nafter: b\nmodel: any\nqueries: \"a b.json\"\n"
         "settings: \"reduce_prompt=a b\"\n---\n\n## 1. First\n\nA \\{brace\\} and `{code}`."
         "\n\n```json\n{\"a\": 1}\n```\n";
}

void TestLessonRecording::lessonsAreReadAsTheyAreWritten() {
  QFETCH(QString, text);
  const ReadLesson read = readLesson(text.toStdString());
  QVERIFY(read.faults.empty());
  const std::string first = written(read.lesson);
  const ReadLesson again = readLesson(first);
  for (const query::Diagnostic& diagnostic : diagnosticsOf(again.faults, first))
    QFAIL(diagnostic.located("written").c_str());
  QCOMPARE(written(again.lesson), first);
  QCOMPARE(again.lesson.steps.size(), read.lesson.steps.size());
  // Steps are unchanged, except for the short forms of metrics.
  QString expected = text.section("\n---\n", 1);
  if (!text.contains(" / run") && !text.contains("> run 2\n"))
    QCOMPARE(QString::fromStdString(first).section("\n---\n", 1).simplified(), expected.simplified());
}

SPANSCOPE_TEST(tst_lesson_recording, TestLessonRecording)
#include "tst_lesson_recording.moc"
