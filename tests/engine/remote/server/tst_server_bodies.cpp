// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies that are refused in words, and those that real clients send.
#include "tests/engine/remote/server/running_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

// Qt Test needs this type to compare JSON values.
#include <QFile>
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::server::test;
using spanscope::product_text::worded;

namespace {

using Json = nlohmann::json;

}  // namespace

class TestServerBodies : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void refusesBodies_data();
  void refusesBodies();
  void refusesBodiesOfSpnl_data();
  void refusesBodiesOfSpnl();
  void bodiesOfRealClients_data();
  void bodiesOfRealClients();
};

void TestServerBodies::refusesBodies_data() {
  QTest::addColumn<QString>("path");
  QTest::addColumn<QString>("body");
  QTest::addColumn<QString>("param");
  QTest::addColumn<QString>("word");  ///< of the message
  const auto chat = [](const char* name, const char* members, const char* param, const char* word) {
    QTest::newRow(name) << QString::fromStdString(kChat) << QString::fromStdString(chatWith(members)) << param
                        << word;
  };
  const auto whole = [](const char* name, const char* path, const char* body, const char* param,
                        const char* word) { QTest::newRow(name) << path << body << param << word; };
  whole("nothing", "/v1/chat/completions", "", "", "not JSON");
  whole("half", "/v1/chat/completions", R"({"messages":[)", "", "not JSON");
  whole("a list", "/v1/chat/completions", "[]", "", "JSON object");
  std::string many = R"({"messages":[],"x":[0)";
  for (int i = 0; i < 2'000'000; ++i) many += ",0";
  whole("millions of values", "/v1/chat/completions", (many + "]}").c_str(), "", "more than");
  whole("no messages", "/v1/chat/completions", "{}", "messages", "list");
  whole("empty messages", "/v1/chat/completions", R"({"messages":[]})", "messages", "at least one");
  whole("a text as message", "/v1/chat/completions", R"({"messages":["a"]})", "messages[0]", "object");
  whole("no such role", "/v1/chat/completions", R"({"messages":[{"role":"judge","content":"a"}]})",
        "messages[0].role", "user or assistant");
  whole("a tool's role", "/v1/chat/completions", R"({"messages":[{"role":"tool","content":"a"}]})",
        "messages[0].role", "calls no tools");
  whole("a picture", "/v1/chat/completions",
        R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"a"}}]}]})",
        "messages[0].content", "text only");
  chat("tools", R"("tools":[{"type":"function"}],)", "tools", "calls no tools");
  chat("functions", R"("functions":[{}],)", "functions", "calls no functions");
  chat("tool choice", R"("tool_choice":"auto",)", "tool_choice", "calls no tools");
  chat("a form", R"("response_format":{"type":"json_object"},)", "response_format", "structured");
  chat("a penalty", R"("frequency_penalty":0.5,)", "frequency_penalty", "does not change");
  chat("a bias", R"("logit_bias":{"1":1},)", "logit_bias", "no 'logit_bias'");
  chat("too many other tokens", R"("logprobs":true,"top_logprobs":21,)", "top_logprobs", "0 to 20");
  chat("other tokens alone", R"("top_logprobs":2,)", "top_logprobs", "unless");
  chat("several with a stop", R"("n":2,"stop":"a",)", "n", "only without 'stop'");
  chat("too many", R"("n":17,)", "n", "1 to 16");
  chat("an empty stop", R"("stop":"",)", "stop", "1 to");
  chat("temperature", R"("temperature":3,)", "temperature", "0 to 2");
  chat("temperature as text", R"("temperature":"1",)", "temperature", "a number");
  chat("top p", R"("top_p":1.5,)", "top_p", "0 to 1");
  chat("fewer than none", R"("max_tokens":-2,)", "max_tokens", "from 1");
  chat("more than most", R"("max_tokens":4,"min_tokens":5,)", "min_tokens", "0 to 4");
  chat("a stop in the reply", R"("include_stop_str_in_output":true,)", "include_stop_str_in_output",
       "before");
  chat("a shorter prompt", R"("truncate_prompt_tokens":5,)", "truncate_prompt_tokens", "truncate");
  chat("special tokens", R"("skip_special_tokens":false,)", "skip_special_tokens", "special");
  whole("no content", "/v1/chat/completions", R"({"messages":[{"role":"user"}]})", "messages[0].content",
        "a text");
  chat("no tokens", R"("max_tokens":0,)", "max_tokens", "from 1");
  chat("half a token", R"("max_tokens":1.5,)", "max_tokens", "whole number");
  chat("too many tokens", R"("max_tokens":99999999999999999999,)", "max_tokens", "whole number");
  chat("options of a stream", R"("stream_options":{"include_usage":true},)", "stream_options", "unless");
  chat("a stream", R"("stream":"yes",)", "stream", "true or false");
  whole("no prompt", "/v1/completions", "{}", "prompt", "a text");
  whole("an empty prompt", "/v1/completions", R"({"prompt":""})", "prompt", "not be empty");
  whole("an echo", "/v1/completions", R"({"prompt":"a","echo":true})", "echo", "does not repeat");
  whole("a gap", "/v1/completions", R"({"prompt":"a","suffix":"b"})", "suffix", "gaps");
  whole("no such id", "/v1/completions", R"({"prompt":[9999]})", "prompt", "no token 9999");
  whole("mixed", "/v1/completions", R"({"prompt":["a",[1]]})", "prompt", "a text");
}

void TestServerBodies::refusesBodies() {
  QFETCH(QString, path);
  QFETCH(QString, body);
  QFETCH(QString, param);
  QFETCH(QString, word);
  Running running;
  const HttpAnswer answer = running.post(path.toStdString(), body.toStdString());
  QVERIFY2(answer.status == 400, answer.body.c_str());
  const Json error = Json::parse(answer.body).at("error");
  QCOMPARE(error["type"].get<std::string>(), std::string("invalid_request_error"));
  QCOMPARE(error["param"].is_null() ? std::string() : error["param"].get<std::string>(), param.toStdString());
  const std::string message = error["message"].get<std::string>();
  QVERIFY2(message.find(word.toStdString()) != std::string::npos, message.c_str());
  QCOMPARE(running.engine.begun(), 0);
}

void TestServerBodies::refusesBodiesOfSpnl_data() {
  QTest::addColumn<QString>("body");
  QTest::addColumn<QString>("word");
  QTest::newRow("no JSON") << "repeat"
                           << "body:1:1";
  QTest::newRow("an unknown operator") << R"({"repat":{}})"
                                       << "repat";
  QTest::newRow("no generate") << R"({"plus":[{"user":"a"}]})" << worded("<body-must-repeat>");
  QTest::newRow("a reply in the prompt")
      << R"({"g":{"model":"stand-in","input":{"cross":[{"g":{"model":"m","input":{"user":"a"}}},{"user":"b"}]}}})"
      << worded("<body-must-repeat>");
  QTest::newRow("no such model") << R"({"repeat":{"n":1,"g":{"model":"other","input":{"user":"a"}}}})"
                                 << worded("<not-served>");
}

void TestServerBodies::refusesBodiesOfSpnl() {
  QFETCH(QString, body);
  QFETCH(QString, word);
  Running running;
  const HttpAnswer answer = running.post("/v1/query/execute?stream=false", body.toStdString());
  QVERIFY(answer.status == 400 || answer.status == 404);
  const std::string message = Json::parse(answer.body).at("error").at("message").get<std::string>();
  QVERIFY2(message.find(word.toStdString()) != std::string::npos, message.c_str());
}

/// As these clients sent them, recorded.
void TestServerBodies::bodiesOfRealClients_data() {
  QTest::addColumn<QByteArray>("recorded");
  QFile file(SPANSCOPE_TEST_DATA_DIR "/clients.jsonl");
  QVERIFY(file.open(QIODevice::ReadOnly));
  while (!file.atEnd()) {
    const QByteArray line = file.readLine();
    const Json json = Json::parse(line.toStdString());
    const std::string name = json["client"].get<std::string>() + ": " + json["what"].get<std::string>();
    QTest::newRow(name.c_str()) << line;
  }
}

void TestServerBodies::bodiesOfRealClients() {
  QFETCH(QByteArray, recorded);
  const Json json = Json::parse(recorded.toStdString());
  ServerConfig config = freePort();
  config.names = {"spanlet"};
  Running running(config);
  const auto body = json["body"].get<std::string>();
  const HttpAnswer answer = running.post(json["path"].get<std::string>(), body);
  QVERIFY2(answer.status == json["status"].get<int>(), answer.body.c_str());
  if (answer.status != 200) return;
  const bool streams = Json::parse(body).value("stream", false);
  QCOMPARE(answer.headers.at("content-type").starts_with("text/event-stream"), streams);
  if (!streams) {
    QVERIFY(!Json::parse(answer.body)["choices"].empty());
    return;
  }
  // What is not of the form that they read, they drop: every event is either a piece or the end.
  const std::vector<std::string> events = eventsIn(answer.body);
  QCOMPARE(events.back(), std::string("[DONE]"));
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    const Json event = Json::parse(events[i]);
    for (const char* key : {"id", "object", "created", "model", "choices"}) QVERIFY(event.contains(key));
    for (const Json& choice : event["choices"]) {
      QVERIFY(choice.contains("index") && choice.contains("finish_reason"));
      QVERIFY(choice.contains(event["object"] == "text_completion" ? "text" : "delta"));
    }
  }
}

SPANSCOPE_TEST(tst_server_bodies, TestServerBodies)
#include "tst_server_bodies.moc"
