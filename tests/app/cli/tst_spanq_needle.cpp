// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq bench needle` at tiny sizes: every name is found or missed for a stated reason, the same again with
// the same seed, and the pictures are written.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace spanscope::test;
using spanscope::product_text::says;
using Json = nlohmann::ordered_json;

class TestSpanqNeedle : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyNameIsAccountedFor();
  void sameSeedSameOutcome();
  void whatDoesNotFitIsNotRun();
  void tableAndMisses();
  void picturesAreWritten();
  void wrongOptions_data();
  void wrongOptions();
};

namespace {

SpanqResult needle(std::vector<std::string> options) {
  std::vector<std::string> words = {"bench", "needle", "--documents", "4",        "--hay",
                                    "0,12",  "-k",     "0,2",         "--trials", "3"};
  words.insert(words.end(), options.begin(), options.end());
  return spanq(words);
}

/// Without what a clock says.
Json withoutTimes(Json report) {
  for (Json& row : report["rows"]) row.erase("run_ms");
  return report;
}

}  // namespace

void TestSpanqNeedle::everyNameIsAccountedFor() {
  const SpanqResult result = needle({"--json"});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json report = Json::parse(result.out);
  QCOMPARE(report["rows"].size(), std::size_t{4});
  int found = 0;
  for (const Json& row : report["rows"]) {
    int causes = 0;
    for (const auto& [name, count] : row["misses_by_cause"].items()) causes += count.get<int>();
    int foundAt = 0;
    for (const Json& count : row["found_by_document"]) foundAt += count.get<int>();
    QCOMPARE(row["names_found"].get<int>() + causes, 4 * 3);
    QCOMPARE(static_cast<int>(row["misses"].size()), causes);
    QCOMPARE(foundAt, row["names_found"].get<int>());
    QCOMPARE(row["misses_by_cause"]["not run"].get<int>(), 0);
    if (row["k"].is_null()) QCOMPARE(row["misses_by_cause"]["lost when combined"].get<int>(), 0);
    QCOMPARE(row["run_ms"]["samples"].size(), std::size_t{3});
    QVERIFY(row["longest_prompt_tokens"].get<int>() > 50);
    QVERIFY(row["longest_prompt_tokens"].get<int>() < report["context_tokens"].get<int>());
    found += row["names_found"].get<int>();
  }
  QVERIFY(found > 24);  // of 48: the bundled model does find names
  // With hay, portions are shorter than the whole.
  QVERIFY(report["rows"][3]["longest_prompt_tokens"] < report["rows"][2]["longest_prompt_tokens"]);
}

void TestSpanqNeedle::sameSeedSameOutcome() {
  const Json first = Json::parse(needle({"--json", "--seed", "5"}).out);
  const Json second = Json::parse(needle({"--json", "--seed", "5", "--threads", "1"}).out);
  QCOMPARE(withoutTimes(first)["rows"], withoutTimes(second)["rows"]);
}

void TestSpanqNeedle::whatDoesNotFitIsNotRun() {
  const SpanqResult result = needle({"--json", "--blocks", "6", "-k", "0"});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json rows = Json::parse(result.out)["rows"];
  const Json& longest = rows[rows.size() - 1];
  QCOMPARE(longest["misses_by_cause"]["not run"].get<int>(), 12);
  QVERIFY(!longest["first_failure"].get<std::string>().empty());
  QVERIFY(says(needle({"--blocks", "6"}).out, "<not-run-hay> 12 words, all at once: "));
}

void TestSpanqNeedle::tableAndMisses() {
  const SpanqResult result = needle({"--misses"});
  QCOMPARE(result.code, 0);
  for (const char* words :
       {"all at once", "k = 2", "at least 3 of 4 ", "lost combining", "<no-prompt-truncated>"}) {
    QVERIFY2(says(result.out, words), words);
  }
  const Json rows = Json::parse(needle({"--json"}).out)["rows"];
  for (const Json& row : rows) {
    for (const Json& miss : row["misses"]) {
      QVERIFY(result.out.find(miss["name"].get<std::string>()) != std::string::npos);
    }
  }
}

void TestSpanqNeedle::picturesAreWritten() {
  const QTemporaryDir folder;
  const QString deep = folder.filePath("a/b");
  QCOMPARE(needle({"--picture", deep.toStdString()}).code, 0);
  QCOMPARE(QDir(deep).entryList(QDir::Files), (QStringList{"needle-depth.svg", "needle-locality.svg"}));
  QFile file(QDir(deep).filePath("needle-depth.svg"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QByteArray svg = file.readAll();
  QVERIFY(svg.startsWith("<svg ") && svg.contains(">k = 2</text>") && svg.contains(">33 %</text>"));
}

void TestSpanqNeedle::wrongOptions_data() {
  QTest::addColumn<QStringList>("options");
  QTest::newRow("one document") << QStringList{"--documents", "1"};
  QTest::newRow("more documents than names") << QStringList{"--documents", "41"};
  QTest::newRow("portions of one") << QStringList{"-k", "1"};
  QTest::newRow("no trials") << QStringList{"--trials", "0"};
  QTest::newRow("a policy that is none") << QStringList{"--policy", "best"};
}

void TestSpanqNeedle::wrongOptions() {
  QFETCH(QStringList, options);
  std::vector<std::string> words = {"bench", "needle"};
  for (const QString& word : options) words.push_back(word.toStdString());
  QCOMPARE(spanq(words).code, 2);
}

SPANSCOPE_TEST(tst_spanq_needle, TestSpanqNeedle, QCoreApplication)
#include "tst_spanq_needle.moc"
