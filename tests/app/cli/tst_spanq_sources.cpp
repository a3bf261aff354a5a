// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq bench sources` at tiny sizes: the measure that views show finds the documents of right answers, the
// same again with the same seeds, and the picture is written.
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

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace spanscope::test;
using spanscope::product_text::says;
using Json = nlohmann::ordered_json;

class TestSpanqSources : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void measuresAreCounted();
  void sameSeedSameOutcome();
  void tableAndPicture();
  void attentionNeedsALayer();
  void recordingsTellSources();
  void wrongOptions_data();
  void wrongOptions();
};

namespace {

SpanqResult sources(std::vector<std::string> options) {
  std::vector<std::string> words = {"bench", "sources", "--documents", "4,8", "--questions", "6"};
  words.insert(words.end(), options.begin(), options.end());
  return spanq(words);
}

}  // namespace

void TestSpanqSources::measuresAreCounted() {
  const SpanqResult result = sources({"--json"});
  QVERIFY2(result.code == 0, result.err.c_str());
  const Json report = Json::parse(result.out);
  QCOMPARE(report["documents"].size(), std::size_t{2});
  for (const Json& part : report["documents"]) {
    QCOMPARE(part["asked"]["one"].get<int>(), 3);
    QCOMPARE(part["asked"]["two"].get<int>(), 3);
    QVERIFY(part["right_reported_on"]["one"].get<int>() >= 2);
  }
  bool hasShown = false;
  int last = 1000;
  for (const Json& measure : report["measures"]) {
    int chosen = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const Json& found = measure["found"][i];
      const Json& right = report["documents"][i];
      chosen += found["chosen_on"]["one"].get<int>() + found["chosen_on"]["two"].get<int>();
      QVERIFY(found["reported_on"]["one"] <= right["right_reported_on"]["one"]);
      QVERIFY(found["reported_on"]["two"] <= right["right_reported_on"]["two"]);
      if (measure["name"] != "squares") continue;
      hasShown = true;
      QCOMPARE(found["reported_on"], right["right_reported_on"]);
    }
    QVERIFY(chosen <= last);
    last = chosen;
  }
  QVERIFY(hasShown);
  QVERIFY(report["measures"].size() > 10);
}

void TestSpanqSources::sameSeedSameOutcome() {
  const Json first = Json::parse(sources({"--json", "--seed", "5", "--report-seed", "6"}).out);
  const Json second =
      Json::parse(sources({"--json", "--seed", "5", "--report-seed", "6", "--threads", "1"}).out);
  QCOMPARE(first["measures"], second["measures"]);
  QVERIFY(first["measures"] != Json::parse(sources({"--json", "--rivals", "1"}).out)["measures"]);
}

void TestSpanqSources::tableAndPicture() {
  const QTemporaryDir folder;
  const QString deep = folder.filePath("a/b");
  const SpanqResult result = sources({"--picture", deep.toStdString()});
  QVERIFY2(result.code == 0, result.err.c_str());
  for (const char* words : {"squares", "without sinks", "best heads: sum over layer ", "8 documents. Right",
                            "<right-answers-whose>"}) {
    QVERIFY2(says(result.out, words), words);
  }
  QFile file(QDir(deep).filePath("sources.svg"));
  QVERIFY(file.open(QIODevice::ReadOnly));
  const QByteArray svg = file.readAll();
  QVERIFY(svg.startsWith("<svg ") && svg.contains(">squares</text>") && svg.contains(">8 documents</text>"));
}

/// What of a run's attention is recorded is chosen by an option that goes with the layers.
void TestSpanqSources::attentionNeedsALayer() {
  const std::string query = std::string(SPANSCOPE_SOURCE_DIR) + "/resources/queries/rag.json";
  QCOMPARE(spanq({"run", "--attention", "heads", query}).code, 2);
  const QTemporaryDir folder;
  const auto countOf = [&](const std::string& detail, const std::string& event) {
    const std::string trace = folder.filePath(QString::fromStdString(detail)).toStdString();
    spanq({"run", "--trace", trace, "--observe", "0,5", "--attention", detail, query});
    const std::string shown = spanq({"trace", "show", "--only", event, trace}).out;
    return std::count(shown.begin(), shown.end(), '\n');
  };
  const auto tokens = countOf("answer", "token_generated");
  QVERIFY(tokens > 4);
  QCOMPARE(countOf("answer", "segment_attention"), tokens);
  QCOMPARE(countOf("answer", "attention_mass"), tokens);
  QVERIFY(countOf("prompt", "attention_mass") > tokens);
  QVERIFY(countOf("heads", "attention_mass") > countOf("prompt", "attention_mass"));
}

void TestSpanqSources::recordingsTellSources() {
  const std::string query = std::string(SPANSCOPE_SOURCE_DIR) + "/resources/queries/rag.json";
  const QTemporaryDir folder;
  const std::string trace = folder.filePath("a.trace").toStdString();
  QCOMPARE(spanq({"run", "--trace", trace, "--observe", "0,1,2,3,4,5", query}).code, 0);
  const Json report = Json::parse(spanq({"trace", "sources", "--json", trace}).out);
  QCOMPARE(report.size(), std::size_t{1});
  QCOMPARE(report[0]["reply"].get<std::string>(), std::string("The pet of Tarek is Biscuit."));
  QCOMPARE(report[0]["sources"].size(), std::size_t{3});
  const Json& first = report[0]["sources"][0];
  QCOMPARE(first["node"].get<std::string>(), std::string("/g/input/cross/1/plus/1"));
  QVERIFY(first["text"].get<std::string>().find("Biscuit") != std::string::npos);
  double sum = 0;
  for (const Json& source : report[0]["sources"]) sum += source["share"].get<double>();
  QVERIFY(first["share"].get<double>() > 0.5);
  QVERIFY(std::abs(sum - 1) < 1e-9);
  const SpanqResult text = spanq({"trace", "sources", trace});
  QVERIFY(text.out.find("/g/input/cross/1/plus/1") < text.out.find("/g/input/cross/1/plus/0"));
  QCOMPARE(text.err, std::string());

  const std::string every = folder.filePath("every.trace").toStdString();
  QCOMPARE(spanq({"run", "--trace", every, "--observe", "all", query}).code, 0);
  QVERIFY(Json::parse(spanq({"trace", "sources", "--json", every}).out) == report);
  const std::string some = folder.filePath("some.trace").toStdString();
  QCOMPARE(spanq({"run", "--trace", some, "--observe", "0,5", query}).code, 0);
  const SpanqResult partial = spanq({"trace", "sources", some});
  QCOMPARE(partial.code, 0);
  QVERIFY2(says(partial.err, "warning: run 1 request 1<shares-of-some-layers> 2 of 6 layers"),
           partial.err.c_str());

  const std::string bare = folder.filePath("b.trace").toStdString();
  QCOMPARE(spanq({"run", "--trace", bare, query}).code, 0);
  const SpanqResult none = spanq({"trace", "sources", bare});
  QCOMPARE(none.code, 0);
  QVERIFY(none.out.empty());
  QVERIFY(says(none.err, "<no-observed-answer>"));
}

void TestSpanqSources::wrongOptions_data() {
  QTest::addColumn<QStringList>("options");
  QTest::newRow("two documents") << QStringList{"--documents", "2"};
  QTest::newRow("more documents than people") << QStringList{"--documents", "29"};
  QTest::newRow("no room for rivals") << QStringList{"--documents", "4", "--rivals", "2"};
  QTest::newRow("no questions") << QStringList{"--questions", "0"};
}

void TestSpanqSources::wrongOptions() {
  QFETCH(QStringList, options);
  std::vector<std::string> words = {"bench", "sources"};
  for (const QString& word : options) words.push_back(word.toStdString());
  QCOMPARE(spanq(words).code, 2);
}

SPANSCOPE_TEST(tst_spanq_sources, TestSpanqSources, QCoreApplication)
#include "tst_spanq_sources.moc"
