// SPDX-License-Identifier: GPL-3.0-or-later
// Chats in OpenAI's notation where a query belongs: what they are read as, and what is said of what a query
// has no form for.
#include "engine/query/json/json.h"
#include "engine/query/yaml/yaml.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <string>

using namespace spanscope::query;

namespace {

QString textOf(const std::vector<Diagnostic>& diagnostics) {
  std::string lines;
  for (const Diagnostic& diagnostic : diagnostics) {
    const std::string mark = diagnostic.severity == spanscope::Severity::Warning ? "warning " : "";
    lines += mark + diagnostic.located({}) + "\n";
  }
  return QString::fromStdString(lines);
}

const char* const kList =
    "warning 1:1: found a list of chat messages, expected a query; it is read as a seq of them\n";
const char* const kRequest =
    "warning 1:1: found a chat-completions request, expected a query; it is read as a generate over a seq of "
    "its "
    "messages\n";
const char* const kColdRequest =
    "warning 1:1: found a chat-completions request, expected a query; it is read as a generate over a seq of "
    "its "
    "messages, "
    "with the temperature 0.6 that a query has without one\n";

std::string leftOut(const std::string& place, const std::string& field) {
  return "warning " + place + ": found the field \"" + field +
         "\", expected what a query can say; it is left out\n";
}

}  // namespace

class TestQueryChat : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void chats_data();
  void chats();
  void refused_data();
  void refused();
  void yaml();
  void sourcesOfNodes();
  void everyTruncationIsRefused();
};

void TestQueryChat::chats_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("same");
  QTest::addColumn<QString>("warnings");
  const auto row = [](const char* name, const char* text, const char* same, const std::string& warnings) {
    QTest::newRow(name) << QByteArray(text) << QByteArray(same) << QString::fromStdString(warnings);
  };
  const std::string list = kList;
  const std::string request = kRequest;
  row("a list",
      R"([{"role":"system","content":"s"},{"content":"u","role":"user"},{"role":"assistant","content":""}])",
      R"({"seq":[{"system":"s"},{"user":"u"},{"assistant":""}]})", list);
  row("a developer", R"([{"role":"developer","content":"s"}])", R"({"seq":[{"system":"s"}]})",
      list +
          "warning 1:10: /0/role: found the role \"developer\", expected system, user or assistant; it is "
          "read as system\n");
  row("parts of text",
      R"([{"role":"user","content":[{"type":"text","text":"a"},{"text":"b","type":"text"}]}])",
      R"({"seq":[{"user":"a\nb"}]})",
      list +
          "warning 1:27: /0/content: found 2 parts of text, expected one text; they are joined by line "
          "breaks\n");
  row("one part", R"([{"role":"user","content":[{"type":"text","text":"a"}]}])", R"({"seq":[{"user":"a"}]})",
      list);
  row("more of a part",
      R"([{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"x"}}]}])",
      R"({"seq":[{"user":"a"}]})", list + leftOut("1:54: /0/content/0/cache_control", "cache_control"));
  row("more of a message", R"([{"role":"user","content":"a","name":"Ann","tool_calls":[],"refusal":null}])",
      R"({"seq":[{"user":"a"}]})", list + leftOut("1:31: /0/name", "name"));
  row("a request",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":5,"temperature":0.5})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"max_tokens":5,"temperature":0.5}})", request);
  row("a request in another order",
      R"({"messages":[{"role":"user","content":"a"}],"temperature":1,"model":"m"})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"temperature":1.0}})", request);
  row("no temperature", R"({"stream":true,"model":"m","messages":[{"role":"user","content":"a"}]})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]}}})",
      kColdRequest + leftOut("1:2: /stream", "stream"));
  row("a system prompt beside the messages",
      R"({"model":"m","system":"s","messages":[{"role":"user","content":"a"}],"temperature":0})",
      R"({"g":{"model":"m","input":{"seq":[{"system":"s"},{"user":"a"}]},"temperature":0.0}})", request);
  row("a system prompt in parts, after the messages",
      R"({"messages":[{"role":"user","content":"a"}],"system":[{"type":"text","text":"s"}],"model":"m","temperature":0})",
      R"({"g":{"model":"m","input":{"seq":[{"system":"s"},{"user":"a"}]},"temperature":0.0}})", request);
  row("no system prompt",
      R"({"model":"m","system":null,"messages":[{"role":"user","content":"a"}],"temperature":0})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"temperature":0.0}})", request);
  row("nulls",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":null,"temperature":null,"stop":null})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]}}})", kColdRequest);
  row("the newer limit",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"max_completion_tokens":5,"temperature":0})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"max_tokens":5,"temperature":0.0}})", request);
  row("both limits",
      R"({"model":"m","max_tokens":7,"messages":[{"role":"user","content":"a"}],"max_completion_tokens":5,"temperature":0})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"max_tokens":5,"temperature":0.0}})",
      request +
          "warning 1:27: found max_tokens beside max_completion_tokens, expected one of them; max_tokens "
          "is left out\n");
  row("what says nothing",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"temperature":0,"n":1,"top_p":1.0,"tools":[],)"
      R"("stream":false,"presence_penalty":0,"frequency_penalty":0.0,"logprobs":false,"response_format":null})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"temperature":0.0}})", request);
  row("what is left out",
      R"({"n":2,"model":"m","messages":[{"role":"user","content":"a"}],"temperature":0,"stop":["x"],"seed":0,"my":{}})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"temperature":0.0}})",
      request + leftOut("1:2: /n", "n") + leftOut("1:79: /stop", "stop") + leftOut("1:92: /seed", "seed") +
          leftOut("1:101: /my", "my"));
}

void TestQueryChat::chats() {
  QFETCH(QByteArray, text);
  QFETCH(QByteArray, same);
  const ParseResult result = parseJson(text.toStdString());
  QTEST(textOf(result.diagnostics), "warnings");
  const ParseResult expected = parseJson(same.toStdString());
  QVERIFY(expected.query.has_value());
  QVERIFY(result.query == expected.query);
  QCOMPARE(result.sources.size(), expected.sources.size());
}

void TestQueryChat::refused_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("error");
  const auto row = [](const char* name, const char* text, const char* error) {
    QTest::newRow(name) << QByteArray(text) << QString::fromUtf8(error);
  };
  const char* const kTool = "; tools, other forms of a reply and sound have no form in a query\n";
  row("an answer of a tool", R"([{"role":"user","content":"a"},{"role":"tool","content":"b"}])",
      "1:40: /1/role: found the role \"tool\", expected system, developer, user or assistant; what a tool "
      "has "
      "answered has no form in a query\n");
  row("another role", R"([{"role":"robot","content":"b"}])",
      "1:10: /0/role: found the role \"robot\", expected system, developer, user or assistant\n");
  row("a picture", R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}])",
      "1:28: /0/content/0: found a part of the type \"image_url\", expected the type text; a query holds "
      "text "
      "alone\n");
  row("no content", R"([{"role":"user"}])",
      "1:2: /0: found no field \"content\", expected \"content\": the text of the message\n");
  row("content that is null", R"([{"role":"assistant","content":null}])",
      "1:32: /0/content: found null, expected text, or a list of parts of the type text\n");
  row("a message that is none", R"([{"role":"user","content":"a"},{"user":"b"}])",
      "1:32: /1: found no field \"role\", expected \"role\": system, developer, user or assistant\n"
      "1:32: /1: found no field \"content\", expected \"content\": the text of the message\n");
  row("a call of a tool", R"([{"role":"assistant","content":"a","tool_calls":[{}]}])",
      qPrintable(
          QStringLiteral("1:36: /0/tool_calls: found the field \"tool_calls\", expected messages of text%1")
              .arg(QLatin1String(kTool))));
  row("tools", R"({"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{}],"temperature":0})",
      qPrintable(QStringLiteral("1:57: /tools: found the field \"tools\", expected messages of text%1")
                     .arg(QLatin1String(kTool))));
  row("no model", R"({"messages":[{"role":"user","content":"a"}],"temperature":0})",
      "1:1: found no field \"model\", expected \"model\": the name of a model\n");
  row("a list of queries", R"([{"user":"a"}])",
      "1:1: found a list, expected a query: an object with one operator, such as {\"user\": \"text\"}; a "
      "list "
      "of queries stands under an operator: {\"seq\": […]}\n");
  row("an empty list", "[]",
      "1:1: found a list, expected a query: an object with one operator, such as {\"user\": \"text\"}; a "
      "list "
      "of queries stands under an operator: {\"seq\": […]}\n");
  row("bad syntax", R"([{"role":"user","content":"a"},)",
      "1:32: /1: found the end of the document, expected a value\n");
}

void TestQueryChat::refused() {
  QFETCH(QByteArray, text);
  const ParseResult result = parseJson(text.toStdString());
  QVERIFY(!result.query.has_value());
  std::vector<Diagnostic> errors = result.diagnostics;
  std::erase_if(errors,
                [](const Diagnostic& found) { return found.severity == spanscope::Severity::Warning; });
  QTEST(textOf(errors), "error");
}

void TestQueryChat::yaml() {
  const ParseResult list = parseYaml("- role: user\n  content: a\n- {role: assistant, content: b}\n");
  QCOMPARE(textOf(list.diagnostics), QLatin1String(kList));
  QVERIFY(list.query == parseJson(R"({"seq":[{"user":"a"},{"assistant":"b"}]})").query);
  const ParseResult request = parseYaml("model: m\ntemperature: 0\nmessages:\n- role: user\n  content: a\n");
  QCOMPARE(textOf(request.diagnostics), QLatin1String(kRequest));
  QVERIFY(request.query ==
          parseJson(R"({"g":{"model":"m","temperature":0.0,"input":{"seq":[{"user":"a"}]}}})").query);
}

void TestQueryChat::sourcesOfNodes() {
  const std::string text =
      R"({"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]})";
  const ParseResult result = parseJson(text);
  const auto at = [&](const char* path) {
    const auto range = result.sources.find(path);
    return range ? QString::fromStdString(text.substr(range->begin, range->end - range->begin)) : QString();
  };
  QCOMPARE(at(""), QString::fromStdString(text));
  QCOMPARE(at("/g/input/seq/1"), QStringLiteral(R"({"role":"user","content":"b"})"));
}

void TestQueryChat::everyTruncationIsRefused() {
  const std::string whole =
      R"({"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"stop":["x"],"n":1})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    for (const std::string& text : {whole.substr(0, size), whole.substr(0, size) + "]"}) {
      const ParseResult result = parseJson(text);
      QVERIFY(!result.query.has_value() && hasErrors(result.diagnostics));
    }
  }
}

SPANSCOPE_TEST(tst_query_chat, TestQueryChat)
#include "tst_query_chat.moc"
