// SPDX-License-Identifier: GPL-3.0-or-later
// A server over the run service with the bundled model.
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/remote/server/server.h"
#include "engine/run/session.h"
#include "engine/trace/event_codec.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/served_engine.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

// Qt Test needs this type to compare JSON values.
#include <QTest>
#include <qfloat16.h>

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::workbench;
using server::test::ask;
using server::test::eventsIn;
using server::test::Headers;
using server::test::HttpAnswer;
using server::test::HttpClient;
using server::test::requestText;

namespace {

using Json = nlohmann::json;

const std::string kChatPath = "/v1/chat/completions";
const std::string kRag =
    R"({"repeat":{"n":1,"g":{"model":"spanlet","input":{"cross":[{"system":"You answer."},{"plus":[)"
    R"({"user":"Mira lives in Lisbon and works as a baker in a small shop near the river, every day."},)"
    R"({"user":"Tarek has a dog called Biscuit that sleeps under the table in the kitchen all day long."}]},)"
    R"({"user":"Where does Mira live?"}]},"max_tokens":8,"temperature":0.0}}})";
const std::string kSwapped =
    R"({"repeat":{"n":1,"g":{"model":"spanlet","input":{"cross":[{"system":"You answer."},{"plus":[)"
    R"({"user":"Tarek has a dog called Biscuit that sleeps under the table in the kitchen all day long."},)"
    R"({"user":"Mira lives in Lisbon and works as a baker in a small shop near the river, every day."}]},)"
    R"({"user":"Where does Mira live?"}]},"max_tokens":8,"temperature":0.0}}})";

std::string chatBody(const std::string& question, const std::string& members = {}) {
  return "{" + members +
         R"("temperature":0,"max_tokens":8,"messages":[{"role":"system","content":"You answer."},)" +
         R"({"role":"user","content":")" + question + "\"}]}";
}

class Served {
 public:
  explicit Served(std::int32_t blocks = 512, std::vector<std::string> keys = {}, bool keepsTexts = true) {
    m_session.blockCount = blocks;
    m_service = std::make_unique<JobService>(test::cpuBackends(), m_nobody,
                                             OwnModel{.model = model(),
                                                      .session = m_session,
                                                      .recorder = m_recorder,
                                                      .settings = {},
                                                      .loadBeside = {}});
    m_engine =
        std::make_unique<ServedEngine>(*m_service, RunSettings(), model(), m_session, m_recorder, keepsTexts);
    server::ServerConfig config;
    config.port = 0;
    config.keys = std::move(keys);
    config.run = runOptionsOf(RunSettings());
    m_server = std::make_unique<server::Server>(config, *m_engine);
    m_server->start();
  }
  HttpAnswer post(const std::string& path, const std::string& body, const Headers& headers = {}) const {
    return ask(m_server->port(), "POST", path, body, headers);
  }
  int port() const { return m_server->port(); }
  /// All that is recorded.
  std::vector<trace::Event> events() const { return m_recorder->events(); }
  server::ServedRequests& requests() const { return m_server->requests(); }

  static std::shared_ptr<ModelBundle> model() {
    static const auto kModel = std::make_shared<ModelBundle>(
        loadModelBundle(bundledModelDirectory(), test::cpuBackends(), {.threads = 2}));
    return kModel;
  }
  /// What a run of a query says that nobody serves.
  static std::string answerOf(const std::string& json) {
    trace::Recorder recorder;
    const auto session = makeSession(*model(), run::SessionConfig(), recorder);
    const auto result = plan::makePlan(*query::parseJson(json).query, {});
    return session->run(*result.plan, runOptionsOf(RunSettings())).answer;
  }

 private:
  JobContextWatcher m_nobody;
  std::shared_ptr<trace::Recorder> m_recorder =
      std::make_shared<trace::Recorder>(trace::RecorderOptions{.keepEvents = true, .clock = {}});
  run::SessionConfig m_session;
  std::unique_ptr<JobService> m_service;
  std::unique_ptr<ServedEngine> m_engine;
  std::unique_ptr<server::Server> m_server;
};

std::string contentOf(const HttpAnswer& answer) {
  return Json::parse(answer.body)["choices"][0]["message"]["content"].get<std::string>();
}

int cachedIn(const HttpAnswer& answer) {
  return Json::parse(answer.body)["usage"]["prompt_tokens_details"]["cached_tokens"].get<int>();
}

}  // namespace

class TestServedEngine : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answersAsARunDoes();
  void spansAreReusedInAnyOrder();
  void completionsGoOnWithTheText();
  void clientsShareNothing();
  void manyClientsAtOnce();
  void promptsThatAreTooLong();
  void answersCanBeAsLongAsAsked();
  void clientsThatGoAwayEndTheirRuns();
  void requestsHaveTheirEvents();
  void textsStayOutOfTheTrace();
};

void TestServedEngine::answersAsARunDoes() {
  const Served served;
  const HttpAnswer answer = served.post("/v1/query/execute?stream=false", kRag);
  QVERIFY2(answer.status == 200, answer.body.c_str());
  QCOMPARE(contentOf(answer), Served::answerOf(kRag));
  const HttpAnswer streamed = served.post("/v1/query/execute?stream=true", kRag);
  std::string text;
  for (const std::string& event : eventsIn(streamed.body)) {
    if (event != "[DONE]") text += Json::parse(event)["choices"][0]["text"].get<std::string>();
  }
  QCOMPARE(text, Served::answerOf(kRag));
}

void TestServedEngine::spansAreReusedInAnyOrder() {
  const Served served;
  const HttpAnswer first = served.post("/v1/query/execute?stream=false", kRag);
  QCOMPARE(cachedIn(first), 0);
  const HttpAnswer swapped = served.post("/v1/query/execute?stream=false", kSwapped);
  const int prompt = Json::parse(swapped.body)["usage"]["prompt_tokens"].get<int>();
  // Both documents are found where they were not before; what follows them is computed.
  QVERIFY2(cachedIn(swapped) * 2 > prompt, swapped.body.c_str());
  QCOMPARE(contentOf(swapped), Served::answerOf(kSwapped));
  const HttpAnswer again = served.post("/v1/query/execute?stream=false", kSwapped);
  QCOMPARE(cachedIn(again), prompt - 1);
}

void TestServedEngine::completionsGoOnWithTheText() {
  const Served served;
  const HttpAnswer answer =
      served.post("/v1/completions", R"({"prompt":"Mira lives in","max_tokens":4,"temperature":0})");
  QVERIFY2(answer.status == 200, answer.body.c_str());
  const Json count = Json::parse(served.post("/tokenize", R"({"prompt":"Mira lives in"})").body);
  QCOMPARE(Json::parse(answer.body)["usage"]["prompt_tokens"], count["count"]);
  const Json chat = Json::parse(served.post("/tokenize", chatBody("Where?")).body);
  const HttpAnswer chatAnswer = served.post(kChatPath, chatBody("Where?"));
  QCOMPARE(Json::parse(chatAnswer.body)["usage"]["prompt_tokens"], chat["count"]);
}

void TestServedEngine::clientsShareNothing() {
  const Served served(512, {"first-key-of-a-client", "second-key-of-a-client"});
  const auto asKey = [&](const std::string& key, const std::string& members = {}) {
    return cachedIn(served.post(kChatPath, chatBody("Where does Mira live, and what does she do?", members),
                                {"Authorization: Bearer " + key + "-key-of-a-client"}));
  };
  QCOMPARE(asKey("first"), 0);
  const int again = asKey("first");
  QVERIFY(again > 0);
  QCOMPARE(asKey("second"), 0);
  QCOMPARE(asKey("first", R"("cache_salt":"mine",)"), 0);
  QCOMPARE(asKey("second"), again);
}

void TestServedEngine::manyClientsAtOnce() {
  // A small pool, so that requests give way to each other.
  const Served served(48);
  constexpr int kClients = 12;
  std::vector<std::string> questions;
  std::map<std::string, std::string> expected;
  {
    const Served alone;
    for (int i = 0; i < kClients; ++i) {
      questions.push_back("Where does Mira live, in house " + std::to_string(i % 4) + "?");
      expected[questions.back()] = contentOf(alone.post(kChatPath, chatBody(questions.back())));
    }
  }
  std::vector<std::string> answers(kClients);
  {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < answers.size(); ++i)
      clients.emplace_back(
          [&, i] { answers[i] = contentOf(served.post(kChatPath, chatBody(questions[i]))); });
  }
  for (std::size_t i = 0; i < answers.size(); ++i) QCOMPARE(answers[i], expected[questions[i]]);
}

void TestServedEngine::promptsThatAreTooLong() {
  const Served served;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "word ";
  for (const char* members : {"", R"("stream":true,)"}) {
    const HttpAnswer answer = served.post(kChatPath, chatBody(text, members));
    QCOMPARE(answer.status, 400);
    QCOMPARE(Json::parse(answer.body)["error"]["code"].get<std::string>(),
             std::string("context_length_exceeded"));
  }
  QCOMPARE(served.post(kChatPath, chatBody("Where?")).status, 200);
}

/// Programs that measure speed request answers of an exact length.
void TestServedEngine::answersCanBeAsLongAsAsked() {
  const Served served;
  const auto endOf = [&](const std::string& members) {
    const Json json = Json::parse(
        served
            .post(kChatPath,
                  "{" + members + R"("temperature":0,"messages":[{"role":"user","content":"Hi"}]})")
            .body);
    return std::pair(json["usage"]["completion_tokens"].get<int>(),
                     json["choices"][0]["finish_reason"].get<std::string>());
  };
  const auto [own, reason] = endOf(R"("max_tokens":200,)");
  QCOMPARE(reason, std::string("stop"));
  QVERIFY(own < 190);
  QCOMPARE(endOf(R"("max_tokens":200,"ignore_eos":true,)"), std::pair(200, std::string("length")));
  const std::string least = std::to_string(own + 5);
  QVERIFY(endOf(R"("max_tokens":200,"min_tokens":)" + least + ",").first > own + 5);
  // Also beyond the limit that holds where a request has none.
  QVERIFY(endOf(R"("min_tokens":300,)").first >= 300);
  QCOMPARE(endOf(R"("min_tokens":300,"ignore_eos":true,)"), std::pair(300, std::string("length")));
}

void TestServedEngine::clientsThatGoAwayEndTheirRuns() {
  const Served served;
  {
    HttpClient client(served.port());
    client.send(
        requestText("POST", kChatPath,
                    R"({"stream":true,"max_tokens":2000,"messages":[{"role":"user","content":"Go on"}]})"));
    client.read(std::chrono::seconds(20));
  }
  QTRY_VERIFY(served.requests().list().at(0).state != server::RequestState::Running);
  QCOMPARE(served.post(kChatPath, chatBody("Where?")).status, 200);
}

void TestServedEngine::requestsHaveTheirEvents() {
  const Served served;
  served.post(kChatPath, chatBody("Where?"));
  served.post(kChatPath, chatBody("Who?"));
  QTRY_COMPARE(served.requests().list().at(1).state, server::RequestState::Finished);
  for (const std::uint64_t number : {1, 2}) {
    const server::ServedRequest request = served.requests().find(number);
    QVERIFY(request.run != 0);
    QVERIFY(std::holds_alternative<trace::RunStarted>(request.events.front().payload));
    QVERIFY(std::holds_alternative<trace::RunFinished>(request.events.back().payload));
    for (const trace::Event& event : request.events) QCOMPARE(event.run, request.run);
    QVERIFY(query::parseJson(request.queryJson).query.has_value());
  }
}

/// The client has its answer; what is recorded of it holds as much as before, without a word or a token.
void TestServedEngine::textsStayOutOfTheTrace() {
  const Served open;
  const Served closed(512, {}, false);
  const HttpAnswer reported = open.post("/v1/query/execute?stream=false", kRag);
  const HttpAnswer kept = closed.post("/v1/query/execute?stream=false", kRag);
  QCOMPARE(contentOf(kept), contentOf(reported));
  QTRY_VERIFY(!closed.events().empty() &&
              std::holds_alternative<trace::RunFinished>(closed.events().back().payload));
  const auto textOf = [](const std::vector<trace::Event>& events) {
    std::string text;
    for (const trace::Event& event : events) text += trace::jsonLine(event);
    return text;
  };
  const std::string said = textOf(open.events());
  const std::string hidden = textOf(closed.events());
  for (const char* word : {"Mira", "Lisbon", "Tarek", "You answer"}) {
    QVERIFY2(said.find(word) != std::string::npos, word);
    QVERIFY2(hidden.find(word) == std::string::npos, word);
  }
  QCOMPARE(closed.events().size(), open.events().size());
  // And it is still a trace of the pool: another request finds its blocks.
  QVERIFY(cachedIn(closed.post("/v1/query/execute?stream=false", kSwapped)) > 0);
}

SPANSCOPE_TEST(tst_served_engine, TestServedEngine)
#include "tst_served_engine.moc"
