// SPDX-License-Identifier: GPL-3.0-or-later
// Lessons through the command: what it says of them, what it runs, and what it writes.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/test_program.h"

#include <QCoreApplication>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>

using spanscope::test::spanq;
using spanscope::test::SpanqResult;
using LessonJson = nlohmann::json;

namespace {

const std::string kLesson = SPANSCOPE_SOURCE_DIR "/resources/lessons/3-prefix-caching.md";
const std::string kHead =
    "---\ntitle: A title\nminutes: 1\nafter: what one knows\nqueries: example:rag.json\n---\n\n## 1. "
    "First\n\nText.\n\n";

}  // namespace

class TestSpanqLesson : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void list();
  void check();
  void checkSaysAllOfIt();
  void run();
  void runAsJson();
  void whatDoesNotHoldFails();
  void anotherModelIsTaken();
  void exportWritesOnePage();
  void exportKeepsTheLesson();
  void gradesOfAClass();
  void mistakes_data();
  void mistakes();

 private:
  QTemporaryDir m_folder;

  std::string written(const std::string& name, const std::string& text) const {
    QFile file(m_folder.filePath(QString::fromStdString(name)));
    if (!file.open(QIODevice::WriteOnly)) return {};
    file.write(QByteArray::fromStdString(text));
    return file.fileName().toStdString();
  }
};

void TestSpanqLesson::list() {
  const SpanqResult result = spanq({"lesson", "list"});
  QCOMPARE(result.code, 0);
  QVERIFY(result.out.find("0-first-steps.md") < result.out.find("3-prefix-caching.md"));
  const LessonJson json = LessonJson::parse(spanq({"lesson", "list", "--json"}).out);
  QVERIFY(json.size() >= 4);
  QVERIFY(json[0].at("title").get<std::string>().starts_with("First steps"));
}

void TestSpanqLesson::check() {
  const SpanqResult result = spanq({"lesson", "check", kLesson});
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string());
  QVERIFY(result.out.starts_with(kLesson + ": 11 steps, "));
  // A name of the list is enough.
  const SpanqResult named = spanq({"lesson", "check", "3-prefix-caching.md"});
  QVERIFY2(named.code == 0, named.err.c_str());
  QVERIFY2(named.out.find("/3-prefix-caching.md: 11 steps, ") != std::string::npos, named.out.c_str());
  const SpanqResult unknown = spanq({"lesson", "check", "33-prefix-caching.md"});
  QVERIFY(unknown.code != 0);
  QVERIFY2(unknown.err.starts_with("33-prefix-caching.md: "), unknown.err.c_str());
  const LessonJson json = LessonJson::parse(spanq({"lesson", "check", "--json", kLesson}).out);
  QCOMPARE(json.at("runs").get<int>(), 5);
  QVERIFY(json.at("diagnostics").empty());
}

void TestSpanqLesson::checkSaysAllOfIt() {
  const std::string file = written(
      "wrong.md", kHead + "```do\nopen example:none.json\ndock nowhere\n```\n\nIt is {run 1: answer}, 7.\n");
  const SpanqResult result = spanq({"lesson", "check", file});
  QCOMPARE(result.code, 1);
  QCOMPARE(result.out, std::string());
  for (const std::string place : {":13:6: ", ":14:6: ", ":17:8: ", ":17:24: warning: "})
    QVERIFY2(result.err.find(file + place) != std::string::npos, (place + result.err).c_str());
  const SpanqResult asJson = spanq({"lesson", "check", "--json", file});
  QCOMPARE(asJson.code, 1);
  const LessonJson json = LessonJson::parse(asJson.out);
  QCOMPARE(json.at("diagnostics").size(), std::size_t{5});
  QCOMPARE(json["diagnostics"][1].at("line").get<int>(), 13);
  // A name may be no UTF-8.
  const std::string odd = m_folder.path().toStdString() + "/odd\xFF.md";
  std::ofstream(odd) << kHead;
  QCOMPARE(LessonJson::parse(spanq({"lesson", "check", "--json", odd}).out).at("runs").get<int>(), 0);
  // It is not run either.
  const SpanqResult ran = spanq({"lesson", "run", file});
  QCOMPARE(ran.code, 1);
  QCOMPARE(ran.out, std::string());
}

void TestSpanqLesson::run() {
  const SpanqResult result = spanq({"lesson", "run", "--threads", "1", kLesson});
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string());
  for (const char* text :
       {"# Prefix caching", "    > run   (run 1)\n", "    ✓ run 1: cached tokens = 0   (0, 0)\n"})
    QVERIFY2(result.out.find(text) != std::string::npos, text);
  // The first question, with its right choice marked.
  std::ifstream lesson(kLesson);
  std::string line;
  while (std::getline(lesson, line) && line != "```question") {
  }
  QVERIFY(std::getline(lesson, line));
  QVERIFY2(result.out.find("  ? " + line + "\n") != std::string::npos, line.c_str());
  while (std::getline(lesson, line) && line.find(" | run 2: computed tokens < run 1") == std::string::npos) {
  }
  const std::string choice = line.substr(line.find(' ') + 1, line.find(" | ") - line.find(' ') - 1);
  QVERIFY2(result.out.find("    ✓ " + choice + "\n") != std::string::npos, choice.c_str());
  QVERIFY(result.out.find('{') == std::string::npos);
}

void TestSpanqLesson::runAsJson() {
  const SpanqResult result = spanq({"lesson", "run", "--threads", "1", "--json", kLesson});
  QCOMPARE(result.code, 0);
  const LessonJson json = LessonJson::parse(result.out);
  QCOMPARE(json.at("runs").size(), std::size_t{5});
  const LessonJson& second = json["runs"][1];
  QCOMPARE(second.at("cached tokens").get<double>() + second.at("computed tokens").get<double>(),
           second.at("prompt tokens").get<double>());
  QCOMPARE(second.at("policy").get<std::string>(), std::string("prefix"));
  QVERIFY(!second.contains("divergence"));
  QVERIFY(json.at("failures").empty());
  QCOMPARE(json.at("steps").size(), std::size_t{11});
  const LessonJson& metricValues = json["steps"][3]["blocks"][1]["figures"];
  QCOMPARE(metricValues[0].at("figure").get<std::string>(), std::string("run 2: cached tokens"));
  QCOMPARE(std::stod(metricValues[0].at("value").get<std::string>()),
           second.at("cached tokens").get<double>());
}

void TestSpanqLesson::whatDoesNotHoldFails() {
  const std::string file =
      written("false.md",
              kHead + "```do\nopen example:rag.json\nrun\n```\n\n```holds\nrun 1: cached tokens > 0\n```\n");
  const SpanqResult result = spanq({"lesson", "run", "--threads", "1", file});
  QCOMPARE(result.code, 3);
  QVERIFY(result.out.find("✗ run 1: cached tokens > 0   (0, 0)") != std::string::npos);
  QCOMPARE(result.err, file + ": step 1: run 1: cached tokens > 0 does not hold: 0 and 0\n");
  const SpanqResult page = spanq({"lesson", "export", "--threads", "1", file});
  QCOMPARE(page.code, 3);
  QVERIFY(page.out.starts_with("<!DOCTYPE html>"));
}

void TestSpanqLesson::anotherModelIsTaken() {
  const std::string file = written("any.md", kHead + "```do\nopen example:rag.json\nrun\n```\n");
  const SpanqResult result =
      spanq({"lesson", "run", "--json", "--model", SPANSCOPE_SOURCE_DIR "/resources/models/spanlet",
             "--device", "cpu", file});
  QCOMPARE(result.code, 0);
  QCOMPARE(LessonJson::parse(result.out)["runs"][0].at("model").get<std::string>(), std::string("spanlet"));
  const SpanqResult none = spanq({"lesson", "run", "--model", m_folder.path().toStdString() + "/none", file});
  QCOMPARE(none.code, 1);
  QVERIFY(none.err.find("none") != std::string::npos);
}

void TestSpanqLesson::exportWritesOnePage() {
  const std::string target = m_folder.filePath("page.html").toStdString();
  const SpanqResult result = spanq({"lesson", "export", "--threads", "1", kLesson, "-o", target});
  QCOMPARE(result.code, 0);
  QCOMPARE(result.out, std::string());
  QFile file(QString::fromStdString(target));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QString page = QString::fromUtf8(file.readAll());
  QVERIFY(page.startsWith("<!DOCTYPE html>") && page.endsWith("</html>\n"));
  QCOMPARE(page.count("<figure>"), 5);
}

void TestSpanqLesson::exportKeepsTheLesson() {
  const std::string text = kHead + "```do\nopen example:rag.json\nrun\n```\n";
  const std::string file = written("kept.md", text);
  const SpanqResult result = spanq({"lesson", "export", "--threads", "1", file, "-o", file});
  QCOMPARE(result.code, 3);
  QFile kept(QString::fromStdString(file));
  QVERIFY(kept.open(QIODevice::ReadOnly));
  QCOMPARE(kept.readAll().toStdString(), text);
}

void TestSpanqLesson::gradesOfAClass() {
  const std::string ada = written("Ada.json", R"({"lesson": "3-prefix-caching.md", "answers": [
      {"step": 3, "question": 1, "choice": 2}, {"step": 5, "question": 1, "number": "0"}]})");
  const std::string bo = written("Bo.json", R"({"lesson": "3-prefix-caching.md", "answers": [
      {"step": 3, "question": 1, "choice": 1}, {"step": 5, "question": 1, "number": "4"}]})");
  const SpanqResult result = spanq({"lesson", "grade", kLesson, ada, bo});
  QCOMPARE(result.code, 0);
  QCOMPARE(QString::fromStdString(result.out), QStringLiteral("learner,3.1,5.1,5.2,8.1,right,questions\n"
                                                              "Ada,right,right,skipped,skipped,2,4\n"
                                                              "Bo,wrong,wrong,skipped,skipped,0,4\n"));
  // Answers to another lesson are refused.
  const std::string other = written("Cy.json", R"({"lesson": "4-block-attention.md", "answers": []})");
  QCOMPARE(spanq({"lesson", "grade", kLesson, other}).code, 1);
  QCOMPARE(spanq({"lesson", "grade", kLesson, kLesson}).code, 1);
}

void TestSpanqLesson::mistakes_data() {
  QTest::addColumn<QString>("command");
  QTest::addColumn<int>("code");
  QTest::newRow("no command") << "" << 2;
  QTest::newRow("no file") << "check" << 2;
  QTest::newRow("no such file") << "run none.md" << 1;
  QTest::newRow("a folder") << "check /" << 1;
  QTest::newRow("unknown option") << "check --fast a.md" << 2;
}

void TestSpanqLesson::mistakes() {
  QFETCH(QString, command);
  QFETCH(int, code);
  std::vector<std::string> words{"lesson"};
  for (const QString& word : command.split(' ', Qt::SkipEmptyParts)) words.push_back(word.toStdString());
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, code);
  QVERIFY(!result.err.empty());
}

SPANSCOPE_TEST(tst_spanq_lesson, TestSpanqLesson, QCoreApplication)
#include "tst_spanq_lesson.moc"
