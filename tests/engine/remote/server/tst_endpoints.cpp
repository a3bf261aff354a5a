// SPDX-License-Identifier: GPL-3.0-or-later
// Every endpoint, over an engine without a model.
#include "engine/base/error.h"
#include "engine/remote/server/server.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/server/stand_in_engine.h"
#include "tests/support/test_program.h"

// Qt Test needs this type to compare JSON values.
#include <QFile>
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::server::test;

namespace {

using Json = nlohmann::json;

ServerConfig freePort() {
  ServerConfig config;
  config.port = 0;
  return config;
}

/// A server over a stand-in for the engine.
struct Running {
  explicit Running(ServerConfig config = freePort()) : server(std::move(config), engine) { server.start(); }

  HttpAnswer post(const std::string& path, const std::string& body, const Headers& headers = {}) {
    return ask(server.port(), "POST", path, body, headers);
  }
  HttpAnswer get(const std::string& path, const Headers& headers = {}) {
    return ask(server.port(), "GET", path, {}, headers);
  }

  StandInEngine engine;
  Server server;
};

const std::string kChat = "/v1/chat/completions";

/// A chat with more members before its messages: R"("stream":true,)".
std::string chatWith(const std::string& members = {}) {
  return "{" + members +
         R"("messages":[{"role":"system","content":"You answer."},)"
         R"({"role":"user","content":"Where does Mira live?"}]})";
}

std::string textOf(const HttpAnswer& answer) {
  return answer.body;
}

/// The texts of a stream by choice, from chunks of either kind.
std::vector<std::string> streamedTexts(const HttpAnswer& answer, std::size_t choices = 1) {
  std::vector<std::string> texts(choices);
  for (const std::string& event : eventsIn(answer.body)) {
    if (event == "[DONE]") continue;
    const Json json = Json::parse(event);
    for (const Json& choice : json.at("choices")) {
      std::string& text = texts.at(choice.at("index").get<std::size_t>());
      if (choice.contains("delta"))
        text += choice["delta"].value("content", "");
      else
        text += choice.at("text").get<std::string>();
    }
  }
  return texts;
}

}  // namespace

class TestEndpoints : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tellsItsHealthAndModels();
  void methodsAreNamed();
  void addressesMayBeWhole();
  void answersAChat();
  void streamsAChat();
  void endsAtAStopText_data();
  void endsAtAStopText();
  void tellsProbabilities();
  void tellsAlternatives();
  void givesSeveralReplies();
  void answersACompletion();
  void takesPromptsOfIds();
  void settingsReachTheRun();
  void limitsOfRepliesReachTheRun();
  void stopsWaitForTheLeastTokens();
  void refusesBodies_data();
  void refusesBodies();
  void refusesBodiesOfSpnl_data();
  void refusesBodiesOfSpnl();
  void answersSpnl();
  void bodiesOfRealClients_data();
  void bodiesOfRealClients();
  void tokenizes();
  void modelsAreCalledByTheirNames();
  void failuresOfTheEngineAreTold();
  void keysAreNeeded();
  void keysAreBytes();
  void browsersAreKeptAway_data();
  void browsersAreKeptAway();
  void beyondTheLoopbackKeysAndTlsAreNeeded();
  void requestsAreLimited();
  void answersAreLimitedInTime();
  void endsGracefully();
  void keepsRequestsForOthers();
  void keepsNoTextsOnRequest();
  void countsWhatHappens();
};

void TestEndpoints::tellsItsHealthAndModels() {
  Running running;
  QCOMPARE(running.get("/health").status, 200);
  const Json models = Json::parse(running.get("/v1/models").body);
  QCOMPARE(models["data"][0]["id"].get<std::string>(), std::string("stand-in"));
  QCOMPARE(models["data"][0]["max_model_len"].get<int>(), 4096);
  QCOMPARE(Json::parse(running.get("/v1/models/stand-in").body), models["data"][0]);
  const HttpAnswer other = running.get("/v1/models/org/other");
  QCOMPARE(other.status, 404);
  QCOMPARE(Json::parse(other.body)["error"]["code"].get<std::string>(), std::string("model_not_found"));
  const HttpAnswer none = running.get("/v2/models");
  QCOMPARE(none.status, 404);
  QCOMPARE(Json::parse(none.body)["error"]["code"].get<std::string>(), std::string("not_found"));
}

/// An endpoint that is asked by another method says which it takes, and the connection goes on.
void TestEndpoints::methodsAreNamed() {
  Running running;
  HttpClient client(running.server.port());
  const auto asked = [&](const char* method, const std::string& path) {
    client.send(requestText(method, path, {}));
    return client.answer();
  };
  for (const std::string& path : {kChat, std::string("/tokenize"), std::string("/v1/query/execute")}) {
    for (const char* method : {"GET", "PUT", "DELETE"}) {
      const HttpAnswer answer = asked(method, path);
      QCOMPARE(answer.status, 405);
      QCOMPARE(answer.headers.at("allow"), std::string("POST"));
      QVERIFY(Json::parse(answer.body).contains("error"));
    }
  }
  const HttpAnswer models = asked("POST", "/v1/models");
  QCOMPARE(models.status, 405);
  QVERIFY(models.headers.at("allow").find("GET") != std::string::npos);
  QCOMPARE(asked("POST", "/nothing").status, 404);

  // No ranges are given, so none are offered.
  client.send(requestText("HEAD", "/v1/models", {}));
  const std::string head = client.read(std::chrono::seconds(20));
  QVERIFY(head.starts_with("HTTP/1.1 200 "));
  QVERIFY(QString::fromStdString(head).indexOf(QStringLiteral("accept-ranges"), 0, Qt::CaseInsensitive) < 0);
}

/// A client may send the whole address, as to a proxy: its host is the one that counts.
void TestEndpoints::addressesMayBeWhole() {
  Running running;
  const std::string own = "http://127.0.0.1:" + std::to_string(running.server.port());
  QCOMPARE(running.get(own + "/v1/models").status, 200);
  QCOMPARE(running.post(own + kChat, chatWith()).status, 200);
  QCOMPARE(running.get("http://rebound.example/v1/models").status, 403);
  HttpClient client(running.server.port());
  client.send("GET /v1/models HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n");
  QCOMPARE(client.answer().status, 400);
}

void TestEndpoints::answersAChat() {
  Running running;
  const HttpAnswer answer = running.post(kChat, chatWith(R"("model":"stand-in",)"));
  QVERIFY2(answer.status == 200, textOf(answer).c_str());
  const Json json = Json::parse(answer.body);
  QCOMPARE(json["object"].get<std::string>(), std::string("chat.completion"));
  QVERIFY(json["id"].get<std::string>().starts_with("chatcmpl-"));
  const Json& choice = json["choices"][0];
  QCOMPARE(choice["message"]["role"].get<std::string>(), std::string("assistant"));
  QCOMPARE(choice["message"]["content"].get<std::string>(), running.engine.reply);
  QCOMPARE(choice["finish_reason"].get<std::string>(), std::string("stop"));
  QCOMPARE(json["usage"]["prompt_tokens"].get<int>(), 40);
  QCOMPARE(json["usage"]["completion_tokens"].get<int>(), 22);  // 21 letters and the end
  QCOMPARE(json["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>(), 32);
}

void TestEndpoints::streamsAChat() {
  Running running;
  const HttpAnswer answer =
      running.post(kChat, chatWith(R"("stream":true,"stream_options":{"include_usage":true},)"));
  QCOMPARE(answer.status, 200);
  QVERIFY(answer.headers.at("content-type").starts_with("text/event-stream"));
  const std::vector<std::string> events = eventsIn(answer.body);
  QCOMPARE(events.back(), std::string("[DONE]"));
  const Json first = Json::parse(events.front());
  QCOMPARE(first["object"].get<std::string>(), std::string("chat.completion.chunk"));
  QCOMPARE(first["choices"][0]["delta"]["role"].get<std::string>(), std::string("assistant"));
  QVERIFY(first["usage"].is_null());
  QCOMPARE(streamedTexts(answer)[0], running.engine.reply);
  const Json usage = Json::parse(events[events.size() - 2]);
  QVERIFY(usage["choices"].empty());
  QCOMPARE(usage["usage"]["total_tokens"].get<int>(), 62);
  const Json last = Json::parse(events[events.size() - 3]);
  QCOMPARE(last["choices"][0]["finish_reason"].get<std::string>(), std::string("stop"));

  const std::vector<std::string> bare = eventsIn(running.post(kChat, chatWith(R"("stream":true,)")).body);
  for (const std::string& event : bare) QVERIFY(event.find("usage") == std::string::npos);
}

void TestEndpoints::endsAtAStopText_data() {
  QTest::addColumn<QString>("stop");
  QTest::addColumn<QString>("text");
  QTest::addColumn<QString>("reason");
  QTest::newRow("in the middle") << R"("in L")"
                                 << "Mira lives "
                                 << "stop";
  QTest::newRow("one of several") << R"(["Porto","Lis"])"
                                  << "Mira lives in "
                                  << "stop";
  QTest::newRow("a beginning that goes on otherwise") << R"("lives on")"
                                                      << "Mira lives in Lisbon."
                                                      << "stop";
  QTest::newRow("at the beginning") << R"("Mi")"
                                    << ""
                                    << "stop";
  QTest::newRow("the last letter") << R"(".")"
                                   << "Mira lives in Lisbon"
                                   << "stop";
}

void TestEndpoints::endsAtAStopText() {
  QFETCH(QString, stop);
  QFETCH(QString, text);
  QFETCH(QString, reason);
  Running running;
  const std::string member = R"("stop":)" + stop.toStdString() + ",";
  const Json whole = Json::parse(running.post(kChat, chatWith(member)).body);
  QCOMPARE(whole["choices"][0]["message"]["content"].get<std::string>(), text.toStdString());
  QCOMPARE(whole["choices"][0]["finish_reason"].get<std::string>(), reason.toStdString());
  const HttpAnswer streamed = running.post(kChat, chatWith(member + R"("stream":true,)"));
  QCOMPARE(streamedTexts(streamed)[0], text.toStdString());
  // The run does not go on without its reader.
  QTRY_COMPARE(running.engine.going(), 0);
}

void TestEndpoints::tellsProbabilities() {
  Running running;
  running.engine.reply = "Hi";
  const Json chat = Json::parse(running.post(kChat, chatWith(R"("logprobs":true,)")).body);
  const Json& content = chat["choices"][0]["logprobs"]["content"];
  QCOMPARE(content.size(), std::size_t{2});
  QCOMPARE(content[1]["token"].get<std::string>(), std::string("i"));
  QCOMPARE(content[1]["bytes"], Json::array({'i'}));
  QVERIFY(qAbs(content[1]["logprob"].get<double>() + 0.693147) < 1e-5);

  const Json text = Json::parse(running.post("/v1/completions", R"({"prompt":"Say hi.","logprobs":0})").body);
  QCOMPARE(text["choices"][0]["logprobs"]["tokens"], Json::array({"H", "i"}));
  QCOMPARE(text["choices"][0]["logprobs"]["text_offset"], Json::array({0, 1}));

  std::string tokens;
  for (const std::string& event :
       eventsIn(running.post(kChat, chatWith(R"("logprobs":true,"stream":true,)")).body)) {
    if (event == "[DONE]") continue;
    const Json piece = Json::parse(event)["choices"][0]["logprobs"];
    if (!piece.is_null()) tokens += piece["content"][0]["token"].get<std::string>();
  }
  QCOMPARE(tokens, std::string("Hi"));
}

void TestEndpoints::tellsAlternatives() {
  Running running;
  running.engine.reply = "Hi";
  const Json chat = Json::parse(running.post(kChat, chatWith(R"("logprobs":true,"top_logprobs":2,)")).body);
  const Json& content = chat["choices"][0]["logprobs"]["content"];
  QCOMPARE(content.size(), std::size_t{2});
  QCOMPARE(running.engine.lastOptions().alternatives, 2);
  const Json& top = content[1]["top_logprobs"];
  QCOMPARE(top.size(), std::size_t{2});
  QCOMPARE(top[0]["token"].get<std::string>(), std::string("i"));
  QCOMPARE(top[0]["bytes"], Json::array({'i'}));
  // What ends a reply may be likely, too.
  QCOMPARE(top[1]["token"].get<std::string>(), std::string("<end>"));
  QVERIFY(qAbs(top[1]["logprob"].get<double>() + 1.386294) < 1e-5);

  const auto completion = [&running](const char* body) {
    return Json::parse(running.post("/v1/completions", body).body)["choices"][0]["logprobs"];
  };
  const Json two = completion(R"({"prompt":"Say hi.","logprobs":2})");
  QCOMPARE(two["top_logprobs"].size(), std::size_t{2});
  QVERIFY(two["top_logprobs"][0].contains("H") && two["top_logprobs"][0].contains("<end>"));
  QVERIFY(completion(R"({"prompt":"Say hi.","logprobs":0})")["top_logprobs"].is_null());
  QCOMPARE(running.engine.lastOptions().alternatives, 0);

  for (const std::string& event :
       eventsIn(running.post(kChat, chatWith(R"("logprobs":true,"top_logprobs":1,"stream":true,)")).body)) {
    if (event == "[DONE]") continue;
    const Json piece = Json::parse(event)["choices"][0]["logprobs"];
    if (!piece.is_null()) QCOMPARE(piece["content"][0]["top_logprobs"].size(), std::size_t{1});
  }
}

void TestEndpoints::givesSeveralReplies() {
  Running running;
  const Json json = Json::parse(running.post(kChat, chatWith(R"("n":3,"max_tokens":4,)")).body);
  QCOMPARE(json["choices"].size(), std::size_t{3});
  for (std::size_t i = 0; i < 3; ++i) {
    QCOMPARE(json["choices"][i]["index"].get<std::size_t>(), i);
    QCOMPARE(json["choices"][i]["message"]["content"].get<std::string>(), std::string("Mira"));
    QCOMPARE(json["choices"][i]["finish_reason"].get<std::string>(), std::string("length"));
  }
  QCOMPARE(json["usage"]["prompt_tokens"].get<int>(), 40);
  QCOMPARE(json["usage"]["completion_tokens"].get<int>(), 12);
  const HttpAnswer streamed = running.post(kChat, chatWith(R"("n":3,"stream":true,)"));
  for (const std::string& text : streamedTexts(streamed, 3)) QCOMPARE(text, running.engine.reply);
}

void TestEndpoints::answersACompletion() {
  Running running;
  const Json json = Json::parse(
      running.post("/v1/completions", R"({"prompt":["Once","Twice"],"n":2,"max_tokens":4})").body);
  QCOMPARE(json["object"].get<std::string>(), std::string("text_completion"));
  QCOMPARE(json["choices"].size(), std::size_t{4});
  QCOMPARE(json["choices"][3]["text"].get<std::string>(), std::string("Mira"));
  QCOMPARE(json["usage"]["prompt_tokens"].get<int>(), 80);
  // The text stands as it is given, without a turn around it.
  QVERIFY(running.engine.lastOptions().chat != nullptr);
  QVERIFY(running.engine.lastOptions().chat->generationPrompt.empty());
  const HttpAnswer streamed = running.post("/v1/completions", R"({"prompt":"Once","stream":true})");
  QCOMPARE(streamedTexts(streamed)[0], running.engine.reply);
}

void TestEndpoints::takesPromptsOfIds() {
  Running running;
  QCOMPARE(running.post("/v1/completions", R"({"prompt":[79,110,99,101]})").status, 200);
  const plan::Plan plan = running.engine.lastPlan();
  QCOMPARE(std::get<plan::PromptMessage>(plan.steps[0].prompt.value).text, std::string("Once"));
  // No text is encoded to a control piece.
  const HttpAnswer control = running.post("/v1/completions", R"({"prompt":[79,256]})");
  QCOMPARE(control.status, 400);
  QCOMPARE(Json::parse(control.body)["error"]["param"].get<std::string>(), std::string("prompt"));
}

void TestEndpoints::settingsReachTheRun() {
  Running running;
  const HttpAnswer answer = running.post(
      kChat,
      chatWith(
          R"("temperature":0.25,"top_p":0.5,"top_k":7,"seed":42,"max_tokens":9,"max_completion_tokens":5,)"));
  QVERIFY2(answer.status == 200, answer.body.c_str());
  const run::RunOptions options = running.engine.lastOptions();
  QCOMPARE(options.topP, 0.5F);
  QCOMPARE(options.topK, 7);
  QCOMPARE(options.seed, std::uint64_t{42});
  const plan::Plan plan = running.engine.lastPlan();
  QCOMPARE(plan.steps[0].temperature, 0.25F);
  QCOMPARE(plan.steps[0].maxTokens, std::optional<std::int32_t>(5));
  // Without a seed, each request has another one.
  running.post(kChat, chatWith());
  const std::uint64_t first = running.engine.lastOptions().seed;
  running.post(kChat, chatWith());
  QVERIFY(running.engine.lastOptions().seed != first);
  // Somebody may have to type it.
  QVERIFY(first < 1'000'000'000);
}

void TestEndpoints::limitsOfRepliesReachTheRun() {
  Running running;
  const auto optionsOf = [&](const char* members) {
    const HttpAnswer answer = running.post(kChat, chatWith(members));
    return answer.status == 200 ? std::optional(running.engine.lastOptions()) : std::nullopt;
  };
  QCOMPARE(optionsOf("")->minTokens, 0);
  QCOMPARE(optionsOf(R"("min_tokens":3,"max_tokens":9,)")->minTokens, 3);
  // Nothing ends such a reply but its limit.
  QVERIFY(optionsOf(R"("ignore_eos":true,)")->minTokens >= 1'000'000);
  QCOMPARE(optionsOf(R"("ignore_eos":false,)")->minTokens, 0);
  // Some clients write "no limit" as -1; 0 is a sure way to the best token.
  QVERIFY(optionsOf(R"("max_tokens":-1,)"));
  QVERIFY(!running.engine.lastPlan().steps[0].maxTokens);
  QVERIFY(optionsOf(R"("top_p":0,)")->topP < 1e-6F);
  // What is empty asks for nothing.
  QCOMPARE(running.post("/v1/completions", R"({"prompt":"a","suffix":"","echo":false,"best_of":1})").status,
           200);
}

void TestEndpoints::stopsWaitForTheLeastTokens() {
  Running running;
  const auto replyTo = [&](const char* members) {
    return Json::parse(running.post(kChat, chatWith(members)).body)["choices"][0]["message"]["content"]
        .get<std::string>();
  };
  QCOMPARE(replyTo(R"("stop":"i",)"), std::string("M"));
  QCOMPARE(replyTo(R"("stop":"i","min_tokens":4,)"), std::string("Mira l"));
}

void TestEndpoints::refusesBodies_data() {
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
  chat("a form", R"("response_format":{"type":"json_object"},)", "response_format", "force");
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
  chat("a shorter prompt", R"("truncate_prompt_tokens":5,)", "truncate_prompt_tokens", "shortens");
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
  whole("a gap", "/v1/completions", R"({"prompt":"a","suffix":"b"})", "suffix", "fills no gaps");
  whole("no such id", "/v1/completions", R"({"prompt":[9999]})", "prompt", "no token 9999");
  whole("mixed", "/v1/completions", R"({"prompt":["a",[1]]})", "prompt", "a text");
}

void TestEndpoints::refusesBodies() {
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

void TestEndpoints::refusesBodiesOfSpnl_data() {
  QTest::addColumn<QString>("body");
  QTest::addColumn<QString>("word");
  QTest::newRow("no JSON") << "repeat"
                           << "body:1:1";
  QTest::newRow("an unknown operator") << R"({"repat":{}})"
                                       << "repat";
  QTest::newRow("no generate") << R"({"plus":[{"user":"a"}]})"
                               << "must be a repeat, a map or a g";
  QTest::newRow("a reply in the prompt")
      << R"({"g":{"model":"stand-in","input":{"cross":[{"g":{"model":"m","input":{"user":"a"}}},{"user":"b"}]}}})"
      << "must be a repeat";
  QTest::newRow("no such model") << R"({"repeat":{"n":1,"g":{"model":"other","input":{"user":"a"}}}})"
                                 << "is not served here";
}

void TestEndpoints::refusesBodiesOfSpnl() {
  QFETCH(QString, body);
  QFETCH(QString, word);
  Running running;
  const HttpAnswer answer = running.post("/v1/query/execute?stream=false", body.toStdString());
  QVERIFY(answer.status == 400 || answer.status == 404);
  const std::string message = Json::parse(answer.body).at("error").at("message").get<std::string>();
  QVERIFY2(message.find(word.toStdString()) != std::string::npos, message.c_str());
}

void TestEndpoints::answersSpnl() {
  Running running;
  const Headers plain{"Content-Type: text/plain"};
  const std::string repeat =
      R"({"repeat":{"n":2,"g":{"model":"stand-in","input":{"cross":[{"system":"s"},{"plus":[{"user":"a"},)"
      R"({"user":"b"}]},{"user":"q"}]},"max_tokens":4,"temperature":0.0}}})";
  const Json chat = Json::parse(running.post("/v1/query/execute?stream=false", repeat, plain).body);
  QCOMPARE(chat["object"].get<std::string>(), std::string("chat.completion"));
  QCOMPARE(chat["choices"].size(), std::size_t{2});
  QCOMPARE(chat["choices"][1]["message"]["content"].get<std::string>(), std::string("Mira"));
  QCOMPARE(chat["usage"]["prompt_tokens"].get<int>(), 40);

  const std::string map =
      R"({"map":{"metadata":{"model":"spnl/stand-in","max_tokens":4},"inputs":["one","two","three"]}})";
  const Json text = Json::parse(running.post("/v1/query/execute?stream=false", map, plain).body);
  QCOMPARE(text["object"].get<std::string>(), std::string("text_completion"));
  QCOMPARE(text["choices"].size(), std::size_t{3});
  QCOMPARE(text["choices"][2]["text"].get<std::string>(), std::string("Mira"));
  QCOMPARE(text["usage"]["prompt_tokens"].get<int>(), 120);

  // Streams have one shape, whatever was asked.
  for (const std::string& body : {repeat, map}) {
    const HttpAnswer streamed = running.post("/v1/query/execute?stream=true", body, plain);
    QCOMPARE(streamed.status, 200);
    const std::vector<std::string> events = eventsIn(streamed.body);
    QCOMPARE(events.back(), std::string("[DONE]"));
    QCOMPARE(Json::parse(events.front())["object"].get<std::string>(), std::string("text_completion"));
    for (const std::string& one : streamedTexts(streamed, body == map ? 3 : 2))
      QCOMPARE(one, std::string("Mira"));
  }
  QCOMPARE(running.post("/v1/query/execute?stream=perhaps", repeat, plain).status, 400);
}

/// As these clients sent them, recorded.
void TestEndpoints::bodiesOfRealClients_data() {
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

void TestEndpoints::bodiesOfRealClients() {
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

void TestEndpoints::tokenizes() {
  Running running;
  const Json text =
      Json::parse(running.post("/tokenize", R"({"prompt":"Hi","return_token_strs":true})").body);
  QCOMPARE(text["tokens"], Json::array({'H', 'i'}));
  QCOMPARE(text["count"].get<int>(), 2);
  QCOMPARE(text["max_model_len"].get<int>(), 4096);
  QCOMPARE(text["token_strs"], Json::array({"H", "i"}));
  const Json chat =
      Json::parse(running.post("/tokenize", R"({"messages":[{"role":"user","content":"Hi"}]})").body);
  const Json back = Json::parse(running.post("/detokenize", Json{{"tokens", chat["tokens"]}}.dump()).body);
  QCOMPARE(back["prompt"].get<std::string>(), std::string("U:Hi\nA:"));
  const Json bare = Json::parse(
      running
          .post("/tokenize", R"({"messages":[{"role":"user","content":"Hi"}],"add_generation_prompt":false})")
          .body);
  QCOMPARE(bare["count"].get<int>(), 5);
  QCOMPARE(running.post("/tokenize", "{}").status, 400);
}

void TestEndpoints::modelsAreCalledByTheirNames() {
  ServerConfig config = freePort();
  config.names = {"gpt-4o"};
  Running running(config);
  QCOMPARE(running.post(kChat, chatWith(R"("model":"gpt-4o",)")).status, 200);
  QCOMPARE(running.post(kChat, chatWith(R"("model":"spnl/stand-in",)")).status, 200);
  const HttpAnswer other = running.post(kChat, chatWith(R"("model":"gpt-5",)"));
  QCOMPARE(other.status, 404);
  QCOMPARE(Json::parse(other.body)["error"]["code"].get<std::string>(), std::string("model_not_found"));
  config.names = {"*"};
  Running any(config);
  const Json json = Json::parse(any.post(kChat, chatWith(R"("model":"gpt-5",)")).body);
  QCOMPARE(json["model"].get<std::string>(), std::string("gpt-5"));
}

void TestEndpoints::failuresOfTheEngineAreTold() {
  Running running;
  running.engine.problem = "in any words";
  running.engine.problemIsOfInput = true;
  running.engine.tooLong = {.tokens = 9999, .most = 4095};
  for (const char* members : {"", R"("stream":true,)"}) {
    const HttpAnswer tooLong = running.post(kChat, chatWith(members));
    QCOMPARE(tooLong.status, 400);
    const Json error = Json::parse(tooLong.body)["error"];
    QCOMPARE(error["code"].get<std::string>(), std::string("context_length_exceeded"));
    // Clients such as litellm search for these words.
    const auto message = error["message"].get<std::string>();
    QVERIFY2(message.starts_with("This model's maximum context length is 4096 tokens"), message.c_str());
    QVERIFY2(message.find("9999 tokens") != std::string::npos, message.c_str());
  }
  running.engine.tooLong.reset();
  running.engine.problem = "a prompt beyond the model's context";
  QCOMPARE(Json::parse(running.post(kChat, chatWith()).body)["error"]["code"].get<std::string>(),
           std::string("prompt_not_possible"));
  running.engine.problem = "out of memory";
  running.engine.problemIsOfInput = false;
  const HttpAnswer broken = running.post(kChat, chatWith());
  QCOMPARE(broken.status, 500);
  QCOMPARE(Json::parse(broken.body)["error"]["type"].get<std::string>(), std::string("server_error"));
}

void TestEndpoints::keysAreNeeded() {
  ServerConfig config = freePort();
  config.keys = {"first-key-of-a-client", "second-key-of-a-client"};
  Running running(config);
  QCOMPARE(running.get("/health").status, 200);
  for (const char* header :
       {"X: y", "Authorization: Bearer wrong-key-of-a-client", "Authorization: Basic x"}) {
    const HttpAnswer denied = running.post(kChat, chatWith(), {header});
    QCOMPARE(denied.status, 401);
    QCOMPARE(Json::parse(denied.body)["error"]["code"].get<std::string>(), std::string("invalid_api_key"));
    QVERIFY(denied.body.find("wrong-key") == std::string::npos);
  }
  QCOMPARE(running.get("/metrics").status, 401);
  std::vector<std::string> salts;
  for (const char* key : {"first-key-of-a-client", "second-key-of-a-client"}) {
    QCOMPARE(running.post(kChat, chatWith(), {std::string("Authorization: Bearer ") + key}).status, 200);
    salts.push_back(running.engine.lastOptions().salt.value());
    QVERIFY(salts.back().find("key") == std::string::npos);
    running.post(kChat, chatWith(R"("cache_salt":"mine",)"), {std::string("Authorization: Bearer ") + key});
    salts.push_back(running.engine.lastOptions().salt.value());
  }
  for (std::size_t i = 0; i < salts.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) QVERIFY(salts[i] != salts[j]);
  StandInEngine engine;
  for (const std::string& key :
       {std::string("short"), std::string("a-key-with-a-line\nend-in-it"),
        std::string("a-key-with-a-NUL\0-in-it", 23), std::string("no UTF-8, but long\xFF"),
        std::string(5000, 'k'), std::string("a-key-with-a-blank-at-its-end ")}) {
    config.keys = {key};
    QVERIFY_EXCEPTION_THROWN(Server(config, engine), Failure);
  }
}

/// A key is what the client sends, byte by byte.
void TestEndpoints::keysAreBytes() {
  ServerConfig config = freePort();
  config.keys = {"a+b%2Bc-of-a-client", "a/b-of-another-client"};
  Running running(config);
  const auto statusOf = [&](const std::string& key) {
    return running.get("/v1/models", {"Authorization: Bearer " + key}).status;
  };
  QCOMPARE(statusOf("a+b%2Bc-of-a-client"), 200);
  QCOMPARE(statusOf("a/b-of-another-client"), 200);
  QCOMPARE(statusOf("a+b+c-of-a-client"), 401);
  QCOMPARE(statusOf("a%2Fb-of-another-client"), 401);
  QCOMPARE(statusOf("a+b%252Bc-of-a-client"), 401);
  QCOMPARE(statusOf(std::string("a/b-of-another-client\0x", 23)), 400);
  QCOMPARE(running.post(kChat, chatWith(), {"Authorization: Bearer a+b%2Bc-of-a-client"}).status, 200);
}

void TestEndpoints::browsersAreKeptAway_data() {
  QTest::addColumn<QString>("header");
  QTest::addColumn<int>("status");
  QTest::newRow("localhost") << "Host: localhost:8000" << 200;
  QTest::newRow("IPv4") << "Host: 127.0.0.1" << 200;
  QTest::newRow("IPv6") << "Host: [::1]:8000" << 200;
  QTest::newRow("another name") << "Host: rebound.example:8000" << 403;
  QTest::newRow("a name that begins like the loopback") << "Host: 127.0.0.1.example" << 403;
  QTest::newRow("a name that was allowed") << "Host: workbench.lan" << 200;
  QTest::newRow("a page") << "Origin: https://evil.example" << 403;
  QTest::newRow("a page from a file") << "Origin: null" << 403;
  QTest::newRow("a page of this machine") << "Origin: http://localhost:3000" << 403;
  QTest::newRow("a page that was allowed") << "Origin: https://app.example" << 200;
  QTest::newRow("a picture on a page") << "Sec-Fetch-Site: cross-site" << 403;
  QTest::newRow("an address that was typed") << "Sec-Fetch-Site: none" << 200;
}

void TestEndpoints::browsersAreKeptAway() {
  QFETCH(QString, header);
  QFETCH(int, status);
  ServerConfig config = freePort();
  config.hosts = {"workbench.lan"};
  config.origins = {"https://app.example"};
  Running running(config);
  QCOMPARE(running.get("/v1/models", {header.toStdString()}).status, status);
  QCOMPARE(running.post(kChat, chatWith(), {header.toStdString()}).status, status);
  if (!header.startsWith("Origin")) return;
  // What a browser asks before it sends a body that is not plain text.
  const HttpAnswer before = ask(running.server.port(), "OPTIONS", kChat, {},
                                {header.toStdString(), "Access-Control-Request-Method: POST",
                                 "Access-Control-Request-Headers: authorization, x-stainless-os"});
  QCOMPARE(before.status, status == 200 ? 204 : 403);
  QCOMPARE(before.headers.contains("access-control-allow-origin"), status == 200);
  if (status == 200)
    QCOMPARE(before.headers.at("access-control-allow-headers"), std::string("authorization, x-stainless-os"));
}

void TestEndpoints::beyondTheLoopbackKeysAndTlsAreNeeded() {
  StandInEngine engine;
  ServerConfig config = freePort();
  config.host = "0.0.0.0";
  const auto problem = [&] {
    try {
      const Server server(config, engine);
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  QVERIFY(problem().find("no keys") != std::string::npos);
  config.keys = {"first-key-of-a-client"};
  QVERIFY(problem().find("no certificate") != std::string::npos);
  config.certificate = "/nowhere/cert.pem";
  config.privateKey = "/nowhere/key.pem";
  QVERIFY(problem().find("/nowhere/cert.pem") != std::string::npos);

  // A port that somebody has is not shared.
  const Server taken(freePort(), engine);
  ServerConfig same = freePort();
  same.port = taken.port();
  QVERIFY_EXCEPTION_THROWN(Server(same, engine), Failure);
}

void TestEndpoints::requestsAreLimited() {
  ServerConfig config = freePort();
  config.limits.requests = 2;
  config.limits.bodyBytes = 2000;
  config.limits.replyTokens = 8;
  Running running(config);
  running.engine.perToken = std::chrono::milliseconds(100);
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(std::make_unique<HttpClient>(running.server.port()));
    QVERIFY(clients.back()->send(requestText("POST", kChat, chatWith())));
  }
  QTRY_COMPARE(running.engine.begun(), 2);
  // A third one waits.
  clients.push_back(std::make_unique<HttpClient>(running.server.port()));
  QVERIFY(clients.back()->send(requestText("POST", kChat, chatWith())));
  QVERIFY(clients.back()->read(std::chrono::milliseconds(100)).empty());
  QCOMPARE(running.engine.begun(), 2);
  clients.erase(clients.begin());
  QTRY_COMPARE(running.engine.begun(), 3);
  clients.clear();
  QTRY_COMPARE(running.engine.going(), 0);

  const HttpAnswer large = running.post(kChat, chatWith(R"("user":")" + std::string(3000, 'x') + "\","));
  QCOMPARE(large.status, 413);
  QCOMPARE(Json::parse(large.body)["error"]["code"].get<std::string>(), std::string("body_too_large"));
  const HttpAnswer many = running.post(kChat, chatWith(R"("max_tokens":9,)"));
  QCOMPARE(many.status, 400);
  QCOMPARE(Json::parse(many.body)["error"]["param"].get<std::string>(), std::string("max_tokens"));
  running.engine.perToken = std::chrono::milliseconds(0);
  QCOMPARE(running.post(kChat, chatWith(R"("max_tokens":8,)")).status, 200);
}

void TestEndpoints::answersAreLimitedInTime() {
  ServerConfig config = freePort();
  config.limits.toAnswer = std::chrono::milliseconds(150);
  Running running(config);
  running.engine.perToken = std::chrono::milliseconds(40);
  const HttpAnswer whole = running.post(kChat, chatWith());
  QCOMPARE(whole.status, 504);
  const HttpAnswer streamed = running.post(kChat, chatWith(R"("stream":true,)"));
  QCOMPARE(streamed.status, 200);
  const std::vector<std::string> events = eventsIn(streamed.body);
  QCOMPARE(events.back(), std::string("[DONE]"));
  QCOMPARE(Json::parse(events[events.size() - 2])["error"]["code"].get<std::string>(),
           std::string("answer_timeout"));
  QTRY_COMPARE(running.engine.going(), 0);
}

void TestEndpoints::endsGracefully() {
  Running running;
  running.engine.perToken = std::chrono::milliseconds(20);
  HttpClient client(running.server.port());
  QVERIFY(client.send(requestText("POST", kChat, chatWith())));
  QTRY_COMPARE(running.engine.begun(), 1);
  std::thread ending([&] { running.server.finish(); });
  QTRY_COMPARE(running.get("/health").status, 503);
  const HttpAnswer refused = running.post(kChat, chatWith());
  QCOMPARE(refused.status, 503);
  QCOMPARE(Json::parse(refused.body)["error"]["code"].get<std::string>(), std::string("server_is_ending"));
  const HttpAnswer answer = client.answer();
  ending.join();
  QCOMPARE(answer.status, 200);
  QCOMPARE(Json::parse(answer.body)["choices"][0]["message"]["content"].get<std::string>(),
           running.engine.reply);
  QVERIFY(!HttpClient(running.server.port()).isConnected());

  // What takes longer than it may is told so.
  ServerConfig config = freePort();
  config.limits.toFinish = std::chrono::milliseconds(50);
  Running hurried(config);
  hurried.engine.perToken = std::chrono::milliseconds(500);
  HttpClient waiting(hurried.server.port());
  QVERIFY(waiting.send(requestText("POST", kChat, chatWith())));
  QTRY_COMPARE(hurried.engine.begun(), 1);
  hurried.server.finish();
  QCOMPARE(waiting.answer().status, 503);
  QTRY_COMPARE(hurried.engine.stopped(), 1);
}

void TestEndpoints::keepsRequestsForOthers() {
  class Listener final : public ServedListener {
   public:
    void onRequest(const ServedRequest& request) override { told += "begin " + request.endpoint + ";"; }
    void onEvent(std::uint64_t, const trace::Event& event) override {
      if (std::holds_alternative<trace::TokenGenerated>(event.payload)) ++tokens;
    }
    void onEnd(std::uint64_t number, RequestState, const std::string&) override {
      told += "end " + std::to_string(number) + ";";
    }
    std::string told;
    int tokens = 0;
  };
  Running running;
  Listener listener;
  running.server.requests().setListener(&listener);
  const Json answer = Json::parse(running.post(kChat, chatWith()).body);
  QTRY_COMPARE(running.engine.going(), 0);
  running.server.requests().setListener(nullptr);
  QCOMPARE(listener.told, std::string("begin /v1/chat/completions;end 1;"));
  QCOMPARE(listener.tokens, 22);
  const std::vector<ServedRequest> list = running.server.requests().list();
  QCOMPARE(list.size(), std::size_t{1});
  QVERIFY(list[0].queryJson.find("Where does Mira live?") != std::string::npos);
  QCOMPARE(list[0].id, answer["id"].get<std::string>());
  QCOMPARE(list[0].state, RequestState::Finished);
  const ServedRequest whole = running.server.requests().find(1);
  QVERIFY(std::holds_alternative<trace::RunStarted>(whole.events.front().payload));
  QVERIFY(std::holds_alternative<trace::RunFinished>(whole.events.back().payload));
  QVERIFY(!whole.isCut);
}

void TestEndpoints::keepsNoTextsOnRequest() {
  ServerConfig config = freePort();
  config.keepsTexts = false;
  Running running(config);
  QCOMPARE(running.post(kChat, chatWith()).status, 200);
  QTRY_COMPARE(running.engine.going(), 0);
  const ServedRequest request = running.server.requests().find(1);
  QVERIFY(request.queryJson.empty());
  QVERIFY(request.events.size() > 20);
  for (const trace::Event& event : request.events) {
    if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload)) {
      QVERIFY(token->text.empty() && token->shown.empty());
      QCOMPARE(token->token, -1);
    }
    if (const auto* step = std::get_if<trace::StepFinished>(&event.payload)) QVERIFY(step->text.empty());
    if (const auto* run = std::get_if<trace::RunStarted>(&event.payload)) QVERIFY(run->queryJson.empty());
  }
}

void TestEndpoints::countsWhatHappens() {
  Running running;
  running.post(kChat, chatWith());
  running.post(kChat, "{}");
  running.get("/nothing");
  // An answer is counted when it is written, a moment before or after the client has it.
  const auto has = [&](const char* line) {
    return ("\n" + running.get("/metrics").body).find("\n" + std::string(line) + "\n") != std::string::npos;
  };
  QTRY_VERIFY(has(R"(spanscope_http_answers_total{endpoint="/v1/chat/completions",status="200"} 1)"));
  QTRY_VERIFY(has(R"(spanscope_http_answers_total{endpoint="/v1/chat/completions",status="400"} 1)"));
  QTRY_VERIFY(has(R"(spanscope_http_answers_total{endpoint="other",status="404"} 1)"));
  QVERIFY(has("spanscope_prompt_tokens_total 40"));
  QVERIFY(has("spanscope_prompt_tokens_cached_total 32"));
  QVERIFY(has("spanscope_generated_tokens_total 22"));
  QTRY_VERIFY(has("spanscope_requests_running 0"));
}

SPANSCOPE_TEST(tst_endpoints, TestEndpoints)
#include "tst_endpoints.moc"
