// SPDX-License-Identifier: GPL-3.0-or-later
// What the server does with requests as a whole: limits, its end, what it keeps and counts of them.
#include "tests/engine/remote/server/running_server.h"
#include "tests/support/test_program.h"

// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::server::test;

namespace {

using Json = nlohmann::json;

}  // namespace

class TestServerWork : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void requestsAreLimited();
  void answersAreLimitedInTime();
  void endsGracefully();
  void keepsRequestsForOthers();
  void keepsNoTextsOnRequest();
  void countsWhatHappens();
};

void TestServerWork::requestsAreLimited() {
  ServerConfig config = freePort();
  config.limits.requests = 2;
  config.limits.bodyBytes = 2000;
  config.limits.answerTokens = 8;
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

void TestServerWork::answersAreLimitedInTime() {
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

void TestServerWork::endsGracefully() {
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

  // A request over the time limit gets an error.
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

void TestServerWork::keepsRequestsForOthers() {
  class Listener final : public ServedListener {
   public:
    void onRequest(const ServedRequest& request) override { reported += "begin " + request.endpoint + ";"; }
    void onEvent(std::uint64_t, const trace::Event& event) override {
      if (std::holds_alternative<trace::TokenGenerated>(event.payload)) ++tokens;
    }
    void onEnd(std::uint64_t number, RequestState, const std::string&) override {
      reported += "end " + std::to_string(number) + ";";
    }
    std::string reported;
    int tokens = 0;
  };
  Running running;
  Listener listener;
  running.server.requests().setListener(&listener);
  const Json answer = Json::parse(running.post(kChat, chatWith()).body);
  QTRY_COMPARE(running.engine.going(), 0);
  running.server.requests().setListener(nullptr);
  QCOMPARE(listener.reported, std::string("begin /v1/chat/completions;end 1;"));
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

void TestServerWork::keepsNoTextsOnRequest() {
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

void TestServerWork::countsWhatHappens() {
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

SPANSCOPE_TEST(tst_server_jobs, TestServerWork)
#include "tst_server_jobs.moc"
