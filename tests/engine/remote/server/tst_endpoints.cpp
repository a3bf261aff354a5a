// SPDX-License-Identifier: GPL-3.0-or-later
// Every endpoint, over an engine without a model.
#include "tests/engine/remote/server/running_server.h"
#include "tests/support/test_program.h"

// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::server::test;

namespace {

using Json = nlohmann::json;

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
  void answersSpnl();
  void tokenizes();
  void modelsAreCalledByTheirNames();
  void failuresOfTheEngineAreTold();
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
  // An end token may be likely, too.
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
  // The text is used unchanged, without a turn around it.
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
  // Nothing ends such an answer but its limit.
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

SPANSCOPE_TEST(tst_endpoints, TestEndpoints)
#include "tst_endpoints.moc"
