// SPDX-License-Identifier: GPL-3.0-or-later
// Chats in OpenAI's notation where a query belongs: what they are read as, and what is said of what a query
// has no form for.
#include "engine/query/chat_writer.h"
#include "engine/query/json/json.h"
#include "engine/query/yaml/yaml.h"
#include "tests/engine/query/diagnostic_lines.h"
#include "tests/engine/query/random_query.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTest>

#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace spanscope::query;
using spanscope::product_text::worded;
using spanscope::query::testing::textOf;

namespace {

const char* const kList =
    "warning 1:1: Spanscope found <list-chat-messages>, but expects a query. <read-seq>.\n";
const char* const kRequest =
    "warning 1:1: Spanscope found a chat-completions request, but expects a query. <read-generate-over>.\n";
const char* const kColdRequest =
    "warning 1:1: Spanscope found a chat-completions request, but expects a query. "
    "<read-generate-over><temperature-query-without>.\n";

std::string leftOut(const std::string& place, const std::string& field) {
  return "warning " + place + ": Spanscope found the field \"" + field +
         "\", but expects <query-can-say>. <left-out>.\n";
}

}  // namespace

class TestQueryChat : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void chats_data();
  void chats();
  void aRequestMayBeginWithAnyField_data();
  void aRequestMayBeginWithAnyField();
  void refused_data();
  void refused();
  void yaml();
  void sourcesOfNodes();
  void everyTruncationIsRefused();
  void rewrites_data();
  void rewrites();
  void rewritesNothingElse_data();
  void rewritesNothingElse();
  void rewritesRandomEdits();
};

void TestQueryChat::chats_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QByteArray>("same");
  QTest::addColumn<QString>("warnings");
  const auto row = [](const char* name, const char* text, const char* same, const std::string& warnings) {
    QTest::newRow(name) << QByteArray(text) << QByteArray(same) << worded(QString::fromStdString(warnings));
  };
  const std::string list = kList;
  const std::string request = kRequest;
  row("a list",
      R"([{"role":"system","content":"s"},{"content":"u","role":"user"},{"role":"assistant","content":""}])",
      R"({"seq":[{"system":"s"},{"user":"u"},{"assistant":""}]})", list);
  row("a developer", R"([{"role":"developer","content":"s"}])", R"({"seq":[{"system":"s"}]})",
      list +
          "warning 1:10: /0/role: Spanscope found the role \"developer\", but expects "
          "<system-user-assistant>. "
          "<read-system>.\n");
  row("parts of text",
      R"([{"role":"user","content":[{"type":"text","text":"a"},{"text":"b","type":"text"}]}])",
      R"({"seq":[{"user":"a\nb"}]})",
      list +
          "warning 1:27: /0/content: Spanscope found 2 parts of text, but expects one text. "
          "<joined-line-breaks>.\n");
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
          "warning 1:27: Spanscope found max_tokens beside max_completion_tokens, but expects one field. "
          "Spanscope ignores max_tokens.\n");
  row("what says nothing",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"temperature":0,"n":1,"top_p":1.0,"tools":[],)"
      R"("stream":false,"presence_penalty":0,"frequency_penalty":0.0,"logprobs":false,"response_format":null})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"temperature":0.0}})", request);
  row("a reply of text",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"temperature":0,"response_format":{"type":"text"},)"
      R"("modalities":["text"],"tool_choice":"auto"})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"temperature":0.0}})", request);
  row("a field of Anthropic that comes first",
      R"({"anthropic_version":"x","model":"m","messages":[{"role":"user","content":"a"}],"temperature":0})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]},"temperature":0.0}})",
      request + leftOut("1:2: /anthropic_version", "anthropic_version"));
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

void TestQueryChat::aRequestMayBeginWithAnyField_data() {
  QTest::addColumn<QByteArray>("fields");
  QTest::addColumn<bool>("isRequest");
  QTest::newRow("a field of some client") << QByteArray(R"("id":"x")") << true;
  QTest::newRow("a user") << QByteArray(R"("user":"me")") << true;
  QTest::newRow("a system") << QByteArray(R"("system":"You answer.")") << true;
  QTest::newRow("an object") << QByteArray(R"("chat_template_kwargs":{"a":[1]})") << true;
  QTest::newRow("an operator") << QByteArray(R"("seq":[])") << false;
}

void TestQueryChat::aRequestMayBeginWithAnyField() {
  QFETCH(QByteArray, fields);
  QFETCH(bool, isRequest);
  const std::string json =
      ("{" + fields + R"(,"model":"m","messages":[{"role":"user","content":"Hi"}]})").toStdString();
  QCOMPARE(chatFormOf(json) == ChatForm::Request, isRequest);
  QCOMPARE(parseJson(json).query.has_value(), isRequest);
}

void TestQueryChat::refused_data() {
  QTest::addColumn<QByteArray>("text");
  QTest::addColumn<QString>("error");
  const auto row = [](const char* name, const char* text, const char* error) {
    QTest::newRow(name) << QByteArray(text) << QString::fromUtf8(error);
  };
  const char* const kTool = ". <tools-other-forms>.\n";
  row("an answer of a tool", R"([{"role":"user","content":"a"},{"role":"tool","content":"b"}])",
      "1:40: /1/role: Spanscope found the role \"tool\", but needs <system-developer-user>. "
      "<tool-answered-no>.\n");
  row("another role", R"([{"role":"robot","content":"b"}])",
      "1:10: /0/role: Spanscope found the role \"robot\", but needs <system-developer-user>\n");
  row("a picture", R"([{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}])",
      "1:28: /0/content/0: Spanscope found <part-type> \"image_url\", but needs the type text. "
      "<query-holds-text>.\n");
  row("no content", R"([{"role":"user"}])",
      "1:2: /0: Spanscope found no field \"content\", but needs \"content\": <text-message>\n");
  row("content that is null", R"([{"role":"assistant","content":null}])",
      "1:32: /0/content: Spanscope found null, but needs <text-list-parts>\n");
  row("a message that is none", R"([{"role":"user","content":"a"},{"user":"b"}])",
      "1:32: /1: Spanscope found no field \"role\", but needs \"role\": <system-developer-user>\n"
      "1:32: /1: Spanscope found no field \"content\", but needs \"content\": <text-message>\n");
  row("a call of a tool", R"([{"role":"assistant","content":"a","tool_calls":[{}]}])",
      qPrintable(
          QStringLiteral(
              "1:36: /0/tool_calls: Spanscope found the field \"tool_calls\", but needs messages of text%1")
              .arg(QLatin1String(kTool))));
  row("tools", R"({"model":"m","messages":[{"role":"user","content":"a"}],"tools":[{}],"temperature":0})",
      qPrintable(
          QStringLiteral("1:57: /tools: Spanscope found the field \"tools\", but needs messages of text%1")
              .arg(QLatin1String(kTool))));
  for (const char* form : {R"({"type":"json_object"})", R"({"type":"text","schema":{}})", R"("text")"}) {
    QTest::addRow("the form %s", form)
        << R"({"model":"m","messages":[{"role":"user","content":"a"}],"response_format":)" +
               QByteArray(form) + "}"
        << QStringLiteral(
               "1:57: /response_format: Spanscope found the field \"response_format\", but needs messages of "
               "text%1")
               .arg(QLatin1String(kTool));
  }
  row("no model", R"({"messages":[{"role":"user","content":"a"}],"temperature":0})",
      "1:1: Spanscope found no field \"model\", but needs \"model\": <name-model>\n");
  row("a list of queries", R"([{"user":"a"}])",
      "1:1: Spanscope found a list, but needs <query-object-operator>. <list-queries-stands>.\n");
  row("an empty list", "[]",
      "1:1: Spanscope found a list, but needs <query-object-operator>. <list-queries-stands>.\n");
  row("bad syntax", R"([{"role":"user","content":"a"},)",
      "1:32: /1: Spanscope found <end-document>, but needs a value\n");
}

void TestQueryChat::refused() {
  QFETCH(QByteArray, text);
  const ParseResult result = parseJson(text.toStdString());
  QVERIFY(!result.query.has_value());
  std::vector<Diagnostic> errors = result.diagnostics;
  std::erase_if(errors,
                [](const Diagnostic& found) { return found.severity == spanscope::Severity::Warning; });
  QFETCH(QString, error);
  QCOMPARE(textOf(errors), worded(error));
}

void TestQueryChat::yaml() {
  const ParseResult list = parseYaml("- role: user\n  content: a\n- {role: assistant, content: b}\n");
  QCOMPARE(textOf(list.diagnostics), worded(kList));
  QVERIFY(list.query == parseJson(R"({"seq":[{"user":"a"},{"assistant":"b"}]})").query);
  const ParseResult request = parseYaml("model: m\ntemperature: 0\nmessages:\n- role: user\n  content: a\n");
  QCOMPARE(textOf(request.diagnostics), worded(kRequest));
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

/// A chat, the query that it became, and the chat that is written: only what was edited differs. Origins are
/// digits, or "-" where the origin of a message is not known.
void TestQueryChat::rewrites_data() {
  QTest::addColumn<QByteArray>("chat");
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<QByteArray>("origins");
  QTest::addColumn<QByteArray>("written");
  QTest::addColumn<int>("lost");
  const auto row = [](const char* name, const char* chat, const char* query, const char* origins,
                      const char* written, int lost = 0) {
    QTest::newRow(name) << QByteArray(chat) << QByteArray(query) << QByteArray(origins) << QByteArray(written)
                        << lost;
  };
  const char* const kBody =
      R"({"model": "m", "stop": ["x"], "seed": 12345678901234567890, "messages": [
  {"role": "system", "content": "s"},
  {"role": "user", "name": "Ann", "content": "a"}
], "top_p": 5e-1, "temperature": 1, "stream": true})";
  row("nothing", kBody,
      R"({"g":{"model":"m","input":{"seq":[{"system":"s"},{"user":"a"}]},"temperature":1.0}})", "01", kBody);
  row("a text", kBody,
      R"({"g":{"model":"m","input":{"seq":[{"system":"s"},{"user":"b\n"}]},"temperature":1.0}})", "01",
      R"({"model": "m", "stop": ["x"], "seed": 12345678901234567890, "messages": [
  {"role": "system", "content": "s"},
  {"role": "user", "name": "Ann", "content": "b\n"}
], "top_p": 5e-1, "temperature": 1, "stream": true})");
  row("order, a new message and settings", kBody,
      R"({"g":{"model":"n","input":{"seq":[{"user":"a"},{"system":"s"},{"assistant":"c"}]},"temperature":0.3,"max_tokens":9}})",
      "10-",
      R"({"model": "n", "stop": ["x"], "seed": 12345678901234567890, "messages": [
  {"role": "user", "name": "Ann", "content": "a"},
  {"role": "system", "content": "s"},
  {"role": "assistant", "content": "c"}
], "top_p": 5e-1, "temperature": 0.3, "stream": true, "max_tokens": 9})");
  row("a message is removed with its name", kBody, R"({"g":{"model":"m","input":{"seq":[{"system":"s"}]}}})",
      "0",
      R"({"model": "m", "stop": ["x"], "seed": 12345678901234567890, "messages": [
  {"role": "system", "content": "s"}
], "top_p": 5e-1, "stream": true})");
  row("the name may belong to the new message", kBody,
      R"({"g":{"model":"m","input":{"seq":[{"system":"s"},{"user":"c"}]},"temperature":1.0}})", "0-",
      R"({"model": "m", "stop": ["x"], "seed": 12345678901234567890, "messages": [
  {"role": "system", "content": "s"},
  {"role": "user", "content": "c"}
], "top_p": 5e-1, "temperature": 1, "stream": true})",
      1);
  row("an equal message has the name again", kBody,
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"},{"user":"c"}]},"temperature":1.0}})", "--",
      R"({"model": "m", "stop": ["x"], "seed": 12345678901234567890, "messages": [
  {"role": "user", "name": "Ann", "content": "a"},
  {"role": "user", "content": "c"}
], "top_p": 5e-1, "temperature": 1, "stream": true})");
  row("another role", kBody,
      R"({"g":{"model":"m","input":{"seq":[{"user":"s"},{"assistant":"a"}]},"temperature":1.0}})", "01",
      R"({"model": "m", "stop": ["x"], "seed": 12345678901234567890, "messages": [
  {"role": "user", "content": "s"},
  {"role": "assistant", "name": "Ann", "content": "a"}
], "top_p": 5e-1, "temperature": 1, "stream": true})");
  row("a developer stays one", R"([{"role":"developer","content":"s"},{"role":"user","content":"a"}])",
      R"({"seq":[{"system":"t"},{"user":"a"}]})", "01",
      R"([{"role":"developer","content":"t"},{"role":"user","content":"a"}])");
  row("a list with a mark before it",
      "\xEF\xBB\xBF [ {\"role\":\"user\",\"content\":\"a\",\"name\":\"A\"} ]\n",
      R"({"seq":[{"user":"b"},{"user":"c"}]})", "0-",
      "\xEF\xBB\xBF [ {\"role\":\"user\",\"content\":\"b\",\"name\":\"A\"}, {\"role\": \"user\", "
      "\"content\": "
      "\"c\"} ]\n");
  row("Anthropic's system",
      R"({"model":"m","max_tokens":5,"system":"s","messages":[{"role":"user","content":"a"}],"metadata":{"user_id":"u"}})",
      R"({"g":{"model":"m","max_tokens":6,"input":{"seq":[{"system":"t"},{"user":"b"}]}}})", "01",
      R"({"model":"m","max_tokens":6,"system":"t","messages":[{"role":"user","content":"b"}],"metadata":{"user_id":"u"}})");
  row("no system any more",
      R"({"model":"m","system":"s","messages":[{"role":"user","content":"a"}],"max_tokens":5})",
      R"({"g":{"model":"m","max_tokens":5,"input":{"seq":[{"user":"a"}]}}})", "1",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":5})");
  row("another system",
      R"({"model":"m","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[]})",
      R"({"g":{"model":"m","input":{"seq":[{"system":"t"},{"user":"a"}]}}})", "--",
      R"({"model":"m","system":[{"type":"text","text":"t","cache_control":{"type":"ephemeral"}}],"messages":[{"role": "user", "content": "a"}]})");
  row("one of several parts",
      R"([{"role":"user","content":["a",{"type":"text","text":"b","x":1},{"text":"c","type":"text"}]}])",
      R"({"seq":[{"user":"a\nB\nB\nc"}]})", "0",
      R"([{"role":"user","content":["a",{"type":"text","text":"B\nB","x":1},{"text":"c","type":"text"}]}])");
  row("several parts",
      R"([{"role":"user","content":["a",{"type":"text","text":"b","x":1},{"text":"c","type":"text"}]}])",
      R"({"seq":[{"user":"A\nb\nC"}]})", "0", R"([{"role":"user","content":"A\nb\nC"}])", 2);
  row("the newer limit",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":null,"max_completion_tokens":5})",
      R"({"g":{"model":"m","max_tokens":7,"input":{"seq":[{"user":"a"}]}}})", "0",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":null,"max_completion_tokens":7})");
  row("no limit",
      R"({"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":9,"max_completion_tokens":5})",
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]}}})", "0",
      R"({"model":"m","messages":[{"role":"user","content":"a"}]})");
}

namespace {

std::optional<RewrittenChat> rewritten(const QByteArray& chat, const QByteArray& query,
                                       const QByteArray& origins) {
  const ParseResult wanted = parseJson(query.toStdString());
  if (!wanted.query) qFatal("not a query: %s", query.constData());
  std::vector<std::optional<std::size_t>> places;
  for (const char digit : origins) {
    places.push_back(digit == '-' ? std::nullopt : std::optional(static_cast<std::size_t>(digit - '0')));
  }
  return rewriteChat(chat.toStdString(), *wanted.query, places);
}

}  // namespace

void TestQueryChat::rewrites() {
  QFETCH(QByteArray, chat);
  QFETCH(QByteArray, query);
  QFETCH(QByteArray, origins);
  const auto written = rewritten(chat, query, origins);
  QVERIFY(written.has_value());
  QTEST(QByteArray::fromStdString(written->text), "written");
  QTEST(static_cast<int>(written->lost.size()), "lost");
  QVERIFY(parseJson(written->text).query == parseJson(query.toStdString()).query);
}

void TestQueryChat::rewritesNothingElse_data() {
  QTest::addColumn<QByteArray>("chat");
  QTest::addColumn<QByteArray>("query");
  QTest::addColumn<QByteArray>("origins");
  const auto row = [](const char* name, const char* chat, const char* query, const char* origins) {
    QTest::newRow(name) << QByteArray(chat) << QByteArray(query) << QByteArray(origins);
  };
  const char* const kList = R"([{"role":"user","content":"a"}])";
  const char* const kBody = R"({"model":"m","system":"s","messages":[{"role":"user","content":"a"}]})";
  row("a plus", kList, R"({"plus":[{"user":"a"}]})", "0");
  row("a message in a plus", kList, R"({"seq":[{"plus":[{"user":"a"}]}]})", "0");
  row("a generate over a list", kList, R"({"g":{"model":"m","input":{"seq":[{"user":"a"}]}}})", "0");
  row("a list that was a request", kBody, R"({"seq":[{"user":"a"}]})", "0");
  row("a limit that only a query has", kBody,
      R"({"g":{"model":"m","max_tokens":null,"input":{"seq":[{"system":"s"},{"user":"a"}]}}})", "01");
  row("a system prompt after a message", kBody,
      R"({"g":{"model":"m","input":{"seq":[{"user":"a"},{"system":"s"}]}}})", "10");
  row("two system prompts", kBody,
      R"({"g":{"model":"m","input":{"seq":[{"system":"s"},{"system":"t"},{"user":"a"}]}}})", "0-1");
  row("no chat", R"({"user":"a"})", R"({"seq":[{"user":"a"}]})", "0");
}

void TestQueryChat::rewritesNothingElse() {
  QFETCH(QByteArray, chat);
  QFETCH(QByteArray, query);
  QFETCH(QByteArray, origins);
  QVERIFY(!rewritten(chat, query, origins));
}

/// Whatever is done to the messages: the new chat is read as the new query, and has every other field.
void TestQueryChat::rewritesRandomEdits() {
  const std::uint32_t seed = testing::testSeed(5101);
  qInfo("seed %u", seed);
  std::mt19937 random(seed);
  const std::string chat =
      R"({"model":"m","stop":["x"],"messages":[{"role":"user","content":"0","name":"A"},{"content":["1"],"role":"assistant"},
 {"role":"system","content":[{"type":"text","text":"2"},{"type":"text","text":"2","k":0}]}, {"role":"user","content":"3"}],"seed":1})";
  for (int i = 0; i < 500; ++i) {
    Node query = *parseJson(chat).query;
    auto& messages = query.as<Generate>()->input->as<Join>()->children;
    std::vector<std::optional<std::size_t>> origins = {0, 1, 2, 3};
    for (std::size_t edits = random() % 6; edits > 0; --edits) {
      const std::size_t at = random() % (messages.size() + 1);
      const auto step = static_cast<std::ptrdiff_t>(at);
      if (at == messages.size() || random() % 4 == 0) {
        messages.insert(messages.begin() + step, {Message{.role = Role::User, .text = "new"}});
        origins.insert(origins.begin() + step, std::nullopt);
      } else if (random() % 2 == 0) {
        messages.erase(messages.begin() + step);
        origins.erase(origins.begin() + step);
      } else {
        messages[at].as<Message>()->text.insert(0, random() % 2, 'e');
        const std::size_t other = random() % messages.size();
        std::swap(messages[at], messages[other]);
        std::swap(origins[at], origins[other]);
      }
    }
    const auto written = rewriteChat(chat, query, origins);
    QVERIFY(written.has_value());
    QVERIFY(parseJson(written->text).query == query);
    QVERIFY(written->text.starts_with(R"({"model":"m","stop":["x"],"messages":[)"));
    QVERIFY(written->text.ends_with(R"(],"seed":1})"));
  }
}

SPANSCOPE_TEST(tst_query_chat, TestQueryChat)
#include "tst_query_chat.moc"
