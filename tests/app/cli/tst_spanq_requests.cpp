// SPDX-License-Identifier: GPL-3.0-or-later
// `spanq export` to requests: curl, Python, chat completions; and what is warned of each target.
#include "tests/app/cli/spanq_process.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

using namespace spanscope::test;
using spanscope::product_text::says;
using Json = nlohmann::json;

namespace {

const std::string kQueries = SPANSCOPE_SOURCE_DIR "/resources/queries/";

bool holds(const std::string& text, const std::string& words) {
  return says(text, words);
}

}  // namespace

class TestSpanqRequests : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void chatOfAChatLosesNothing();
  void chatOfAJudge();
  void chatRetrieves();
  void chatWithASeed();
  void chatByCurl();
  void requestsName_data();
  void requestsName();
  void warningsPointIntoTheFile();
  void refusedTargetsWriteNothing_data();
  void refusedTargetsWriteNothing();
  void localityComesFirst();
};

void TestSpanqRequests::chatOfAChatLosesNothing() {
  const SpanqResult result = spanq({"export", "--to", "chat", kQueries + "chat.json"});
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string());
  const Json body = Json::parse(result.out);
  QCOMPARE(body["model"].get<std::string>(), std::string("spanlet"));
  QCOMPARE(body["messages"].size(), std::size_t{5});
  QCOMPARE(body["messages"][3]["role"].get<std::string>(), std::string("assistant"));
}

void TestSpanqRequests::chatOfAJudge() {
  const SpanqResult result = spanq({"export", "--to", "chat", kQueries + "judge-4.json"});
  QCOMPARE(result.code, 0);
  QCOMPARE(std::count(result.out.begin(), result.out.end(), '\n'), 5);
  for (const char* words :
       {"<plus-in-a-row>", "<inner-generate-chat>", "<shared-prompt>", "one request per"}) {
    QVERIFY2(holds(result.err, words), words);
  }
  QVERIFY(holds(result.out, R"({"role":"assistant","content":"{{answer of request-3}}"})"));
}

void TestSpanqRequests::chatRetrieves() {
  const SpanqResult result = spanq({"export", "--to", "chat", "--passages", "1", kQueries + "retrieve.yaml"});
  QCOMPARE(result.code, 0);
  QVERIFY2(holds(result.out, "The pet of Tarek is called Biscuit."), result.out.c_str());
}

void TestSpanqRequests::chatWithASeed() {
  const std::string query = R"({"repeat":{"n":3,"g":{"model":"spnl/m","input":{"user":"a"}}}})";
  const SpanqResult result = spanq({"export", "--to", "chat", "--seed", "7", "-"}, query);
  QCOMPARE(result.code, 0);
  std::set<std::uint32_t> seeds;
  for (const QString& line : QString::fromStdString(result.out).split('\n', Qt::SkipEmptyParts)) {
    seeds.insert(Json::parse(line.toStdString())["body"]["seed"].get<std::uint32_t>());
  }
  QCOMPARE(seeds.size(), std::size_t{3});
}

void TestSpanqRequests::chatByCurl() {
  const SpanqResult result = spanq({"export", "--to", "chat-curl", kQueries + "chat.json"});
  QCOMPARE(result.code, 0);
  QVERIFY2(holds(result.out, "'http://localhost:8000/v1/chat/completions'"), result.out.c_str());
  QVERIFY2(holds(result.out, "$OPENAI_API_KEY"), result.out.c_str());
}

void TestSpanqRequests::requestsName_data() {
  QTest::addColumn<QStringList>("arguments");
  QTest::addColumn<QString>("part");
  const QStringList curl{"--to", "curl"};
  const QStringList python{"--to", "python"};
  QTest::newRow("curl") << curl << "'http://localhost:8000/v1/query/execute?stream=true'";
  QTest::newRow("curl to another") << curl + QStringList{"--endpoint", "http://gpu:9/q"}
                                   << "'http://gpu:9/q?stream=true'";
  QTest::newRow("curl in one piece") << curl + QStringList{"--no-stream"} << "stream=false";
  QTest::newRow("curl, body") << curl << R"('{"repeat":{"n":1,"g":{"model":"spanlet",)";
  QTest::newRow("python") << python << "import requests";
  QTest::newRow("python in one piece") << python + QStringList{"--no-stream"} << "'stream': 'false'";
}

void TestSpanqRequests::requestsName() {
  QFETCH(QStringList, arguments);
  QFETCH(QString, part);
  std::vector<std::string> words{"export"};
  for (const QString& argument : arguments) words.push_back(argument.toStdString());
  words.push_back(kQueries + "rag.json");
  const SpanqResult result = spanq(words);
  QCOMPARE(result.code, 0);
  QCOMPARE(result.err, std::string());
  QVERIFY2(QString::fromStdString(result.out).contains(part), result.out.c_str());
}

void TestSpanqRequests::warningsPointIntoTheFile() {
  const SpanqResult result =
      spanq({"export", "--to", "spnl", "-"},
            "{\"seq\": [\n  {\"g\": {\"model\": \"m\", \"input\": {\"user\": \"a\"}}}]}");
  QCOMPARE(result.code, 0);
  QVERIFY2(holds(result.err, "standard input:2:3: /seq/0: warning: “m” has no provider"), result.err.c_str());
}

void TestSpanqRequests::refusedTargetsWriteNothing_data() {
  QTest::addColumn<QString>("target");
  QTest::addColumn<QString>("query");
  QTest::addColumn<QString>("reason");
  QTest::newRow("curl") << "curl"
                        << R"({"user":"a"})"
                        << "begins with user";
  QTest::newRow("python")
      << "python"
      << R"({"g":{"model":"spnl/m","input":{"g":{"model":"spnl/m","input":{"user":"a"}}}}})"
      << "<inner-generate-request>";
  QTest::newRow("chat") << "chat"
                        << R"({"user":"a"})"
                        << "<query-generates-nothing>";
  QTest::newRow("chat without messages") << "chat"
                                         << R"({"g":{"model":"spnl/m","input":{"seq":[]}}})"
                                         << "has no message";
}

void TestSpanqRequests::refusedTargetsWriteNothing() {
  QFETCH(QString, target);
  QFETCH(QString, query);
  QFETCH(QString, reason);
  const SpanqResult result = spanq({"export", "--to", target.toStdString(), "-"}, query.toStdString());
  QCOMPARE(result.code, 1);
  QCOMPARE(result.out, std::string());
  QVERIFY2(says(result.err, reason), result.err.c_str());
  QVERIFY2(QString::fromStdString(result.err).contains(QStringLiteral("error: ")) ||
               target == QStringLiteral("chat"),
           result.err.c_str());
}

void TestSpanqRequests::localityComesFirst() {
  const SpanqResult result = spanq({"export", "--to", "chat", "--locality", "2", kQueries + "judge-4.json"});
  QCOMPARE(result.code, 0);
  // Four generates, two judges of two, one of their answers.
  QCOMPARE(std::count(result.out.begin(), result.out.end(), '\n'), 7);
}

SPANSCOPE_TEST(tst_spanq_requests, TestSpanqRequests)
#include "tst_spanq_requests.moc"
