// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/lesson_run.h"
#include "engine/lesson/lesson_state.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <filesystem>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::lesson;
using spanscope::product_text::matches;
using spanscope::product_text::worded;

namespace {

constexpr const char* kQuery =
    R"({"g": {"model": "m", "input": {"cross": [{"system": "s"}, {"plus": [{"user": "a"}, {"user": "b"}]}, )"
    R"({"user": "q"}]}}})";

std::string lessonText(const std::string& queries, const std::string& actions, const std::string& rest = {}) {
  return "---\ntitle: A title\nminutes: 5\nafter: what one knows\nqueries: " + queries +
         "\n---\n\n## 1. First\n\nText.\n\n```do\n" + actions + "```\n" + rest;
}

}  // namespace

class TestLessonCheck : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase();
  void faults_data();
  void faults();
  void rightOnes_data();
  void rightOnes();
  void filesOutside_data();
  void filesOutside();
  void modelsOutside();
  void settings_data();
  void settings();
  void editsAndSwaps();
  void counts();
  void minutes();
  void thereAreSoManyRuns();
  void filesThatAreNoLesson();

 private:
  QTemporaryDir m_folder;

  std::filesystem::path lessons() const { return (m_folder.path() + "/lessons").toStdString(); }
  void write(const QString& path, const char* text) const {
    QFile file(m_folder.filePath(path));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  QStringList saidOf(const std::string& text) const {
    ReadLesson read = readLesson(text);
    const std::vector<Fault> found = checkLesson(read.lesson, LessonFolder(lessons()));
    read.faults.insert(read.faults.end(), found.begin(), found.end());
    QStringList said;
    for (const query::Diagnostic& diagnostic : diagnosticsOf(read.faults, text))
      said << QString::fromStdString(diagnostic.located({}));
    return said;
  }
};

void TestLessonCheck::initTestCase() {
  QVERIFY(QDir(m_folder.path()).mkpath("lessons/inner"));
  write("lessons/a.json", kQuery);
  write("lessons/inner/b.json", kQuery);
  write("lessons/broken.json", "{\"g\": 1}");
  write("lessons/augment.json",
        R"({"g": {"model": "m", "input": {"augment": {"embedding_model": "e", "body": {"user": "q"}, )"
        R"("doc": ["d", {"Text": "t"}]}}}})");
  write("lessons/file.json", R"({"g": {"model": "m", "input": {"file": "../secret.json"}}})");
  write("lessons/server.span",
        R"({"spanscope": {"version": 1}, "query": {"g": {"model": "m", "input": {"user": "q"}}}, )"
        R"("layout": {"nodes": {"/g": {"server": "gpu"}, "": {"server": "gpu"}}}})");
  write("secret.json", kQuery);
  QVERIFY(QFile::link(m_folder.filePath("secret.json"), m_folder.filePath("lessons/link.json")));
  QVERIFY(QFile::link(m_folder.path(), m_folder.filePath("lessons/up")));
}

void TestLessonCheck::faults_data() {
  QTest::addColumn<QString>("queries");
  QTest::addColumn<QString>("actions");
  QTest::addColumn<QString>("rest");
  QTest::addColumn<QString>("said");
  const auto row = [](const char* name, const char* queries, const char* actions, const char* rest,
                      const char* said) {
    QTest::newRow(name) << QString(queries) << QString(actions) << QString(rest) << worded(said);
  };
  row("query not of the head", "", "open inner/b.json\n", "",
      "13:6: Spanscope found the query \"inner/b.json\", but needs <heads-queries>");
  row("query never opened", "a.json inner/b.json", "open a.json\n", "",
      "5:17: Spanscope found the query \"inner/b.json\"<never-opened>, but expects an action \"open\"");
  row("query with errors", "broken.json", "open broken.json\n", "", "13:6: Spanscope found broken.json:");
  row("run without a query", "", "run\n", "",
      "13:1: Spanscope found <run-while-no>, but needs an action \"open\" before it");
  row("server of a node", "server.span", "open server.span\n", "",
      "13:6: Spanscope found server.span<node-server> \"gpu\"");
  row("server of all nodes", "a.json", "open a.json\nset server=gpu\n", "",
      "14:5: Spanscope found <lesson-sets> \"server\"");
  row("augment", "augment.json", "open augment.json\nrun\n", "",
      "14:1: Spanscope found augment.json<which-has-an>, but needs <query-without-lessons>");
  row("file of the query outside", "file.json", "open file.json\nrun\n", "",
      "14:1: Spanscope found file.json: /g/input");
  row("node without a query", "", "select node:/g\n", "",
      "13:8: Spanscope found <node-while-no>, but needs an action \"open\" before it");
  row("node that is none", "a.json", "open a.json\nselect node:/g/input/cross/7\n", "",
      "14:8: Spanscope found the node \"/g/input/cross/7\", but needs <place-node-query>");
  row("edited node that is none", "a.json", "open a.json\nedit /g/input/cross/7 \"x\"\n", "",
      "14:6: Spanscope found the node \"/g/input/cross/7\", but needs <place-node-query>");
  row("edited node without a text", "a.json", "open a.json\nedit /g/input/cross/1 \"x\"\n", "",
      "14:6: Spanscope found the node \"/g/input/cross/1\", a plus, but needs <node-text-own>");
  row("swapped nodes", "a.json", "open a.json\nswap /g/input/cross/0 /g/input/cross/1/plus/0\n", "",
      "14:1: Spanscope found <two-nodes-cannot>, but needs <two-children-node>");
  row("setting", "a.json", "open a.json\nset colour=red\n", "",
      "14:5: Spanscope found the setting \"colour\", but needs one of ");
  row("setting of the machine", "a.json", "open a.json\nset device=cuda\n", "",
      "14:5: Spanscope found <lesson-sets> \"device\", but needs one of ");
  row("value of a setting", "a.json", "open a.json\nset block_size=0\n", "",
      "14:5: Spanscope found block_size = \"0\", but needs <whole-number-lesson-reader> ");
  row("policy", "a.json", "open a.json\nset policy=link(x)\n", "",
      "14:5: Spanscope found policy = \"link(x)\", but needs ");
  row("block before a run", "a.json", "open a.json\nselect block:1\n", "",
      "14:8: Spanscope found block:1 <before-first-run>, but needs an action \"run\" before it");
  row("moment before a run", "a.json", "open a.json\nscrub start\n", "",
      "14:1: Spanscope found <moment-before-run>, but needs an action \"run\" before it");
  row("comparison ahead", "a.json", "open a.json\nrun\ncompare with run 2\n", "",
      "15:14: Spanscope found run 2 in a comparison, but needs <earlier-run>. Only 1 run is "
      "<stands-before-place>");
  row("comparison with itself", "a.json", "open a.json\nrun\ncompare with run 1\n", "",
      "15:14: Spanscope found <last-run-beside>, but needs an earlier run");
  row("fidelity before a run", "a.json", "open a.json\nmeasure fidelity\n", "",
      "14:1: Spanscope found <fidelity-before-run>, but needs an action \"run\" before it");
  row("fidelity of another session", "a.json", "open a.json\nrun\nset block_size=4\nmeasure fidelity run 1\n",
      "", "16:1: Spanscope found run 1<whose-session-ended>, but needs <run-under-present>");
  row("figure ahead", "a.json", "open a.json\nrun\n", "\nIt is {run 2: answer}.\n",
      "17:8: Spanscope found run 2 in a text, but needs <earlier-run>. Only 1 run is <stands-before-place>");
  row("figure ahead of its step", "a.json", "open a.json\n", "\nIt is {run 1: answer}.\n\n```do\nrun\n```\n",
      "16:8: Spanscope found run 1 in a text, but needs <earlier-run>. No run is <stands-before-place> "
      "<text-may-name>");
  row("question beyond the end", "a.json", "open a.json\nrun\n",
      "\n```question\nHow many?\nnumber: run 2: blocks\n```\n",
      "19:9: Spanscope found run 2 in a question, but needs <earlier-run>. Only 1 run is "
      "<stands-before-place>");
  row("what holds ahead", "a.json", "open a.json\nrun\n", "\n```holds\nrun 2: blocks = 1\n```\n",
      "18:1: Spanscope found run 2 …, but needs <earlier-run>. Only 1 run is <stands-before-place>");
  row("condition of what holds ahead", "a.json", "open a.json\nrun\n",
      "\n```holds\nwhere run 2: model = \"a\"\nrun 1: blocks = 1\n```\n",
      "18:7: Spanscope found run 2 …, but needs <earlier-run>. Only 1 run is <stands-before-place>");
  row("fidelity that was not measured", "a.json", "open a.json\nrun\n", "\nIt is {run 1: divergence}.\n",
      "17:8: Spanscope found the divergence of run 1, but needs <measure-fidelity-run>");
  row("node of a figure", "a.json", "open a.json\nrun\n", "\nIt is {run 1: cached tokens of node:/g/x}.\n",
      "17:8: Spanscope found the node \"/g/x\", but needs <place-node-query-run> 1");
  row("link to a node that is none", "a.json", "open a.json\n", "\n[Here](node:/g/x).\n",
      "16:8: Spanscope found the node \"/g/x\", but needs <place-node-query>");
}

void TestLessonCheck::faults() {
  QFETCH(QString, queries);
  QFETCH(QString, actions);
  QFETCH(QString, rest);
  QFETCH(QString, said);
  const QStringList found =
      saidOf(lessonText(queries.toStdString(), actions.toStdString(), rest.toStdString()));
  QCOMPARE(found.size(), 1);
  QVERIFY2(matches(found[0], said + QStringLiteral("…")), qPrintable(found[0]));
}

void TestLessonCheck::rightOnes_data() {
  QTest::addColumn<QString>("queries");
  QTest::addColumn<QString>("actions");
  QTest::addColumn<QString>("rest");
  const auto row = [](const char* name, const char* queries, const char* actions, const char* rest) {
    QTest::newRow(name) << QString(queries) << QString(actions) << QString(rest);
  };
  row("an example", "example:rag.json", "open example:rag.json\nselect node:/g/input/cross/1/plus/2\nrun\n",
      "\n{run 1: cached tokens of node:/g/input/cross/1}\n");
  row("a folder below", "inner/b.json", "open inner/b.json\nrun\n", "");
  row("what only shows", "a.json",
      "open a.json\nlayout measure\ndock why\nzoom in\nrun\nselect block:1\nselect span:1\nselect token:2\n"
      "scrub event:3\nwait for end\nexperiment rag\n",
      "");
  row("a question ahead", "a.json", "open a.json\n",
      "\n```question\nHow many?\nnumber: run 1: blocks\n```\n\n```do\nrun\n```\n");
  row("fidelity", "a.json", "open a.json\nrun\nempty cache\nrun\nmeasure fidelity run 1\n",
      "\n{run 1: divergence}\n");
}

void TestLessonCheck::rightOnes() {
  QFETCH(QString, queries);
  QFETCH(QString, actions);
  QFETCH(QString, rest);
  QCOMPARE(saidOf(lessonText(queries.toStdString(), actions.toStdString(), rest.toStdString())),
           QStringList());
}

void TestLessonCheck::filesOutside_data() {
  QTest::addColumn<QString>("path");
  QTest::newRow("above") << "../secret.json";
  QTest::newRow("above and back") << "inner/../../lessons/a.json";
  QTest::newRow("inside but upwards") << "inner/../a.json";
  QTest::newRow("absolute") << m_folder.filePath("lessons/a.json");
  QTest::newRow("a link out") << "link.json";
  QTest::newRow("a folder's link out") << "up/secret.json";
  QTest::newRow("a backslash") << "..\\secret.json";
  QTest::newRow("nothing there") << "none.json";
  QTest::newRow("a folder") << "inner";
  QTest::newRow("an example above") << "example:../models/spanlet/config.json";
  QTest::newRow("an example's folder") << "example:builtins/email-3.lisp";
  QTest::newRow("no example") << "example:none.json";
}

void TestLessonCheck::filesOutside() {
  QFETCH(QString, path);
  const QStringList said = saidOf(lessonText(path.toStdString(), "open " + path.toStdString() + "\n"));
  QVERIFY(!said.isEmpty());
  const auto read = LessonFolder(lessons()).read(path.toStdString());
  QVERIFY(std::holds_alternative<query::NotGiven>(read));
}

void TestLessonCheck::modelsOutside() {
  const std::string text = lessonText("a.json", "open a.json\n");
  for (const char* model : {"../lessons", "up", "/tmp", "none"}) {
    std::string other = text;
    other.insert(other.find("queries:"), std::string("model: ") + model + "\n");
    const QStringList said = saidOf(other);
    QCOMPARE(said.size(), 1);
    QVERIFY2(said[0].startsWith("5:8: "), qPrintable(said[0]));
  }
  std::string inside = text;
  inside.insert(inside.find("queries:"), "model: inner\n");
  QCOMPARE(saidOf(inside), QStringList());
}

void TestLessonCheck::settings_data() {
  QTest::addColumn<QString>("key");
  for (const workbench::Setting& setting : workbench::runSettings())
    QTest::newRow(std::string(setting.key).c_str()) << QString::fromStdString(std::string(setting.key));
}

/// What a lesson may set is nothing that names a place, a server or a device; and every one of those can be.
void TestLessonCheck::settings() {
  QFETCH(QString, key);
  const workbench::Setting* const setting = workbench::findSetting(key.toStdString());
  workbench::RunSettings changed;
  const auto wrong = assign(changed, {key.toStdString(), "\x01"});
  const QStringList own{"model",          "adapter",          "chat_template",  "context",
                        "stands_for",     "device",           "exact",          "arithmetic",
                        "threads",        "kept_mib",         "cache_disk_mib", "embeddings",
                        "embeddings_url", "embeddings_model", "server",         "template_variables"};
  QCOMPARE(mayBeSet(*setting), !own.contains(key));
  if (mayBeSet(*setting)) return;
  QVERIFY(wrong);
  QCOMPARE(changed, workbench::RunSettings());
}

void TestLessonCheck::editsAndSwaps() {
  const LessonFolder folder{lessons()};
  LessonState desk(folder);
  std::vector<Fault> faults;
  Head head;
  head.queries.push_back({"a.json", 0});
  desk.begin(head, faults);
  for (const char* line :
       {"open a.json", "edit /g/input/cross/2 \"other\"", "set policy=prefix", "set layers=0,2",
        "set observe=off", "swap /g/input/cross/1/plus/0 /g/input/cross/1/plus/1"}) {
    const auto action = readAction(line, 0, faults);
    QVERIFY(action);
    desk.apply(*action, faults);
  }
  QVERIFY2(faults.empty(), faults.empty() ? "" : faults[0].found.c_str());
  auto planned = desk.plan();
  QVERIFY(std::holds_alternative<PlannedQuery>(planned));
  const query::Node& query = std::get<PlannedQuery>(planned).query;
  const auto textAt = [&query](const char* path) {
    return query::nodeAt(query, path)->as<query::Message>()->text;
  };
  QCOMPARE(textAt("/g/input/cross/1/plus/0"), std::string("b"));
  QCOMPARE(textAt("/g/input/cross/1/plus/1"), std::string("a"));
  QCOMPARE(textAt("/g/input/cross/2"), std::string("other"));
  QCOMPARE(desk.settings().policy, std::string("prefix"));
  QVERIFY(!desk.settings().observe);
  QVERIFY((desk.settings().layers == std::vector<std::int32_t>{0, 2}));
  // Opened again, it is as its file has it; settings stay.
  desk.apply(*readAction("open a.json", 0, faults), faults);
  planned = desk.plan();
  QCOMPARE(
      query::nodeAt(std::get<PlannedQuery>(planned).query, "/g/input/cross/2")->as<query::Message>()->text,
      std::string("q"));
  QCOMPARE(desk.settings().policy, std::string("prefix"));
}

void TestLessonCheck::counts() {
  const std::string text =
      lessonText("a.json", "open a.json\nrun\n",
                 "\n{run 1: answer} and {run 1: policy}\n\n```question\nHow {run 1: blocks}?\nnumber: run 1: "
                 "blocks\nwhy: A "
                 "reason.\n```\n\n```try\nrun\n```\n\n```holds\nrun 1: blocks > 1\nrun 1: blocks > 2\n```\n");
  const LessonCounts expected{
      .steps = 1, .actions = 3, .tasks = 1, .runs = 2, .questions = 1, .claims = 2, .metrics = 3, .words = 9};
  QVERIFY(countsOf(readLesson(text).lesson) == expected);
}

/// Reading, looking at views, and acting take time.
void TestLessonCheck::minutes() {
  QCOMPARE(estimatedMinutes({}), std::int64_t{1});
  QCOMPARE(estimatedMinutes({.words = 600}), std::int64_t{4});
  QCOMPARE(estimatedMinutes({.steps = 8, .words = 600}), std::int64_t{6});
  QCOMPARE(estimatedMinutes({.steps = 8, .tasks = 2, .questions = 4, .words = 600}), std::int64_t{9});
}

void TestLessonCheck::thereAreSoManyRuns() {
  const auto lessonOf = [](std::size_t runs) {
    std::string text = lessonText("a.json", "open a.json\n");
    for (std::size_t run = 0; run < runs; ++run) {
      if (run % 10 == 0) text += "\n## " + std::to_string(2 + run / 10) + ". More\n\nText.\n";
      text += "\n```do\nrun\n```\n";
    }
    return text;
  };
  QCOMPARE(saidOf(lessonOf(kMaxRuns)), QStringList());
  const QStringList said = saidOf(lessonOf(kMaxRuns + 2));
  QCOMPARE(said.size(), 1);
  QVERIFY(said[0].contains(QString("more than %1 runs").arg(kMaxRuns)));
}

void TestLessonCheck::filesThatAreNoLesson() {
  const std::filesystem::path folder = lessons();
  QVERIFY_EXCEPTION_THROWN(readLessonFile(folder), Failure);
  QVERIFY_EXCEPTION_THROWN(readLessonFile(folder / "none.md"), Failure);
  QVERIFY_EXCEPTION_THROWN(readLessonFile("/dev/zero"), Failure);
  QFile large(m_folder.filePath("large.md"));
  QVERIFY(large.open(QIODevice::WriteOnly));
  large.resize(static_cast<qint64>(kMaxBytes) + 1);
  QVERIFY_EXCEPTION_THROWN(readLessonFile(large.fileName().toStdString()), Failure);
  write("mark.md", "\xEF\xBB\xBF---\n");
  QCOMPARE(readLessonFile(m_folder.filePath("mark.md").toStdString()), std::string("---\n"));
}

SPANSCOPE_TEST(tst_lesson_check, TestLessonCheck)
#include "tst_lesson_check.moc"
