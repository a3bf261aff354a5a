// SPDX-License-Identifier: GPL-3.0-or-later
// A query's chat completions on a server: what is sent, what comes of it, and what stays of a break.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <chrono>
#include <mutex>
#include <string>
#include <vector>

using namespace spanscope;
using Json = nlohmann::json;
using remote::RemoteResult;
using remote::ServerKind;
using remote::test::Server;

namespace {

QByteArray streamed(const QByteArray& events) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events;
}

QByteArray chunk(const QByteArray& text) {
  return R"(data: {"choices":[{"index":0,"delta":{"content":")" + text +
         R"("},"finish_reason":null}]})"
         "\n\n";
}

const QByteArray kEnd =
    R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})"
    "\n\n"
    R"(data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}})"
    "\n\ndata: [DONE]\n\n";

Json bodyOf(const QByteArray& request) {
  return Json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
}

std::vector<exports::ChatRequest> requestsOf(const char* json) {
  const auto parsed = query::parseJson(json);
  return exports::chatRequests(*parsed.query).requests;
}

const char* const kJudge = R"({"g":{"model":"org/m","max_tokens":12,"temperature":0.5,"input":{"cross":[)"
                           R"({"g":{"model":"org/m","max_tokens":7,"input":{"user":"Name a town."}}},)"
                           R"({"user":"Is it large?"}]}}})";

struct Watcher : remote::RemoteWatcher {
  void stepBegins(std::size_t request) override { begun.push_back(request); }
  void promptProgress(std::size_t, const remote::PromptProgress& told) override { progress.push_back(told); }
  void text(std::size_t, const std::string& piece) override {
    pieces.push_back(piece);
    if (stop != nullptr) stop->request_stop();
  }
  void stepEnds(const remote::RemoteStep& step) override { ended.push_back(step.request); }

  std::vector<std::size_t> begun;
  std::vector<std::size_t> ended;
  std::vector<remote::PromptProgress> progress;
  std::vector<std::string> pieces;
  std::stop_source* stop = nullptr;
};

remote::RemoteServer hastyServer(const std::string& url) {
  using namespace std::chrono_literals;
  return {
      .url = url, .model = {}, .access = {.limits = {.connect = 2s, .firstByte = 300ms, .silence = 200ms}}};
}

const remote::ServerFacts kFacts{
    .kind = ServerKind::LlamaCpp, .version = {}, .models = {{"m", {}}}, .slots = {}};

RemoteResult run(Server& server, Watcher& watcher, const std::stop_token& stop = {},
                 const remote::ServerFacts& facts = kFacts) {
  remote::HttpClient client;
  return remote::runRemotely(client,
                             {{.name = "here", .server = hastyServer(server.address()), .facts = facts}}, {},
                             requestsOf(kJudge), watcher, stop);
}

}  // namespace

class TestRemoteRun : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void repliesStandInLaterPrompts() {
    std::mutex mutex;
    std::vector<Json> bodies;
    Server server([&](const QByteArray& request) {
      const std::lock_guard lock(mutex);
      bodies.push_back(bodyOf(request));
      return streamed(bodies.size() == 1 ? chunk("Lis") + chunk("bon") + kEnd : chunk("Yes") + kEnd);
    });
    Watcher watcher;
    const RemoteResult result = run(server, watcher);
    QVERIFY(!result.error && !result.isStopped);
    QCOMPARE(result.steps.size(), std::size_t{2});
    QCOMPARE(result.steps[0].answer.text, std::string("Lisbon"));
    QCOMPARE(result.steps[1].answer.text, std::string("Yes"));
    QCOMPARE(result.steps[1].cached.tokens, std::int64_t{4});
    QVERIFY(result.steps[0].timeToFirstToken && *result.steps[0].timeToFirstToken <= result.steps[0].seconds);
    QVERIFY((watcher.pieces == std::vector<std::string>{"Lis", "bon", "Yes"}));
    QVERIFY((watcher.begun == std::vector<std::size_t>{0, 1} && watcher.ended == watcher.begun));
    QCOMPARE(bodies.size(), std::size_t{2});
    const Json& last = bodies[1];
    QCOMPARE(last["model"].get<std::string>(), std::string("m"));
    QCOMPARE(last["max_tokens"].get<int>(), 12);
    QCOMPARE(last["stream"].get<bool>(), true);
    QCOMPARE(last["stream_options"]["include_usage"].get<bool>(), true);
    QCOMPARE(last["return_progress"].get<bool>(), true);
    QCOMPARE(last["messages"].size(), std::size_t{2});
    QCOMPARE(last["messages"][0]["role"].get<std::string>(), std::string("assistant"));
    QCOMPARE(last["messages"][0]["content"].get<std::string>(), std::string("Lisbon"));
  }

  void onlyThoseWhoKnowAreAskedForProgress() {
    QByteArray body;
    std::mutex mutex;
    Server server([&](const QByteArray& request) {
      const std::lock_guard lock(mutex);
      body = request;
      return streamed(chunk("x") + kEnd);
    });
    Watcher watcher;
    remote::ServerFacts facts = kFacts;
    facts.kind = ServerKind::Vllm;
    QVERIFY(!run(server, watcher, {}, facts).error);
    QVERIFY(!bodyOf(body).contains("return_progress"));
  }

  void progressIsTold() {
    Server server(
        streamed(R"(data: {"choices":[],"prompt_progress":{"total":9,"cache":4,"processed":6,"time_ms":3}})"
                 "\n\n" +
                 chunk("x") + kEnd));
    Watcher watcher;
    QVERIFY(!run(server, watcher).error);
    QVERIFY((watcher.progress.front() == remote::PromptProgress{.total = 9, .cached = 4, .processed = 6}));
  }

  /// What came stays, what needs it is not sent.
  void breaks_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<bool>("holds");
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("said");
    const auto row = [](const char* name, const QByteArray& answer, bool holds, const char* text,
                        const char* said) {
      QTest::newRow(name) << answer << holds << QString(text) << QString(said);
    };
    row("cut", streamed(chunk("Lis")), false, "Lis", "ended before the answer did");
    row("cut in an event", streamed(chunk("Lis") + "data: [1, "), false, "Lis", "chat completion in JSON");
    row("stall", "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + chunk("Lis"), true, "Lis",
        "nothing for 0.2 s");
    row("silence", "", true, "", "nothing within");
    row("an error in the stream",
        streamed(chunk("Lis") + R"(data: {"error":{"message":"no memory"}})"
                                "\n\n"),
        false, "Lis", "no memory");
    row("garbage", streamed("data: \xff\xfe\n\n"), false, "", "chat completion in JSON");
    row("a page", streamed("<html>busy</html>"), false, "", "busy");
    row("refused", remote::test::http(400, R"({"error":{"message":"too long","type":"x"}})"), false, "",
        "status 400: too long");
    row("nothing", streamed(""), false, "", "empty body");
    row("words", streamed("Internal Server Error"), false, "", "Internal Server Error");
    // No two slashes: moc takes them for a comment.
    row("a redirect", "HTTP/1.1 308 X\r\nLocation: https:/\x2Fnew.example/v1\r\nContent-Length: 0\r\n\r\n",
        false, "", "new.example/v1");
    row("a wait", "HTTP/1.1 429 X\r\nRetry-After: 17\r\nContent-Length: 4\r\n\r\nslow", false, "", "17 s");
  }
  void breaks() {
    QFETCH(QByteArray, answer);
    QFETCH(bool, holds);
    QFETCH(QString, text);
    QFETCH(QString, said);
    Server server(answer, holds ? Server::After::Hold : Server::After::Close);
    Watcher watcher;
    const RemoteResult result = run(server, watcher);
    QCOMPARE(result.steps.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(result.steps[0].answer.text), text);
    QVERIFY(!result.steps[0].brokenBy.empty());
    QVERIFY(result.error.has_value());
    const QString found = QString::fromUtf8(Failure(*result.error).what());
    QVERIFY2(found.contains(said), qPrintable(found));
    QVERIFY(found.contains(QStringLiteral("/v1/chat/completions")));
    QCOMPARE(server.requests(), 1);
  }

  /// After "[DONE]" nobody waits for the connection to close.
  void theEndOfTheStreamIsTheEnd() {
    const QByteArray head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    for (const QByteArray& late : {QByteArray(), chunk("LATE")}) {
      Server server(head + chunk("Lis") + kEnd + late, Server::After::Hold);
      Watcher watcher;
      remote::HttpClient client;
      remote::RemoteServer there = hastyServer(server.address());
      there.access.limits.silence = std::chrono::minutes(5);
      const auto requests = requestsOf(R"({"g":{"model":"m","input":{"user":"Hi"}}})");
      const RemoteResult result = remote::runRemotely(
          client, {{.name = "here", .server = there, .facts = kFacts}}, {}, requests, watcher);
      QVERIFY(!result.error && !result.isStopped);
      QCOMPARE(result.steps[0].answer.text, std::string("Lis"));
      QVERIFY(result.steps[0].brokenBy.empty());
      QVERIFY(result.steps[0].seconds < 60);
    }
  }

  /// What a server says with the key in it comes to nobody.
  void keysStayOutOfErrors_data() {
    QTest::addColumn<QByteArray>("answer");
    const QByteArray words = "bad key sk-very-secret, " + QByteArray(190, 'x') + " sk-very-secret";
    QByteArray error = R"({"error":{"message":"WORDS"}})";
    error.replace("WORDS", words);
    QTest::newRow("status") << remote::test::http(401, error);
    QTest::newRow("event") << streamed("data: " + error + "\n\n");
    QTest::newRow("words") << streamed(words);
    QTest::newRow("object") << remote::test::http(200, error);
    QTest::newRow("page") << streamed("<html><title>" + words + "</title></html>");
    QByteArray refusal =
        R"(data: {"choices":[{"index":0,"delta":{"refusal":"WORDS"},"finish_reason":"stop"}]})";
    QTest::newRow("refusal") << streamed(refusal.replace("WORDS", words) + "\n\ndata: [DONE]\n\n");
  }
  void keysStayOutOfErrors() {
    QFETCH(QByteArray, answer);
    Server server(answer);
    Watcher watcher;
    remote::HttpClient client;
    remote::RemoteServer there = hastyServer(server.address());
    there.access.key = "sk-very-secret";
    const RemoteResult result = remote::runRemotely(
        client, {{.name = "here", .server = there, .facts = kFacts}}, {}, requestsOf(kJudge), watcher);
    QVERIFY(result.error.has_value());
    for (const std::string& said : {result.error->message(), result.steps[0].brokenBy}) {
      QVERIFY2(said.find("bad key") != std::string::npos, said.c_str());
      QVERIFY2(said.find("sk-very") == std::string::npos, said.c_str());
    }
  }

  /// An answer that the server cut at a limit of its own is a whole one, and the user is warned.
  void limitsOfTheServerAreSaid() {
    Server server(streamed(chunk("Lis") +
                           R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]})"
                           "\n\ndata: [DONE]\n\n"));
    Watcher watcher;
    remote::HttpClient client;
    for (const bool hasLimit : {false, true}) {
      const auto requests =
          requestsOf(hasLimit ? R"({"g":{"model":"m","max_tokens":7,"input":{"user":"Hi"}}})"
                              : R"({"g":{"model":"m","input":{"user":"Hi"}}})");
      const RemoteResult result = remote::runRemotely(
          client, {{.name = "here", .server = hastyServer(server.address()), .facts = kFacts}}, {}, requests,
          watcher);
      QVERIFY(!result.error);
      QCOMPARE(result.steps[0].warning.empty(), hasLimit);
    }
  }

  void aStopIsNoError() {
    Server server("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + chunk("Lis"), Server::After::Hold);
    std::stop_source stop;
    Watcher watcher;
    watcher.stop = &stop;
    const RemoteResult result = run(server, watcher, stop.get_token());
    QVERIFY(result.isStopped && !result.error);
    QCOMPARE(result.steps.size(), std::size_t{1});
    QCOMPARE(result.steps[0].answer.text, std::string("Lis"));
    QTRY_COMPARE(server.left(), 1);
  }

  /// Each request goes to the server that was chosen for it, in that server's form.
  void stepsGoToDifferentServers() {
    QByteArray first;
    QByteArray second;
    std::mutex mutex;
    const auto keep = [&mutex](QByteArray& into, const char* text) {
      return [&mutex, &into, text](const QByteArray& request) {
        const std::lock_guard lock(mutex);
        into = request;
        return streamed(chunk(text) + kEnd);
      };
    };
    Server one(keep(first, "Lisbon"));
    Server other(keep(second, "Yes"));
    remote::ServerFacts vllm = kFacts;
    vllm.kind = ServerKind::Vllm;
    vllm.models = {{"org/m", {}}};
    Watcher watcher;
    remote::HttpClient client;
    const RemoteResult result =
        remote::runRemotely(client,
                            {{.name = "one", .server = hastyServer(one.address()), .facts = kFacts},
                             {.name = "other", .server = hastyServer(other.address()), .facts = vllm}},
                            {0, 1}, requestsOf(kJudge), watcher);
    QVERIFY(!result.error);
    QCOMPARE(result.steps[0].target, std::size_t{0});
    QCOMPARE(result.steps[1].target, std::size_t{1});
    QCOMPARE(bodyOf(first)["model"].get<std::string>(), std::string("m"));
    QCOMPARE(bodyOf(second)["model"].get<std::string>(), std::string("org/m"));
    QVERIFY(bodyOf(first).contains("return_progress") && !bodyOf(second).contains("return_progress"));
    QCOMPARE(bodyOf(second)["messages"][0]["content"].get<std::string>(), std::string("Lisbon"));
  }

  /// The only model of a server is not the one that was chosen for it by another name.
  void aChosenModelIsNoOther() {
    Server server(streamed(chunk("x") + kEnd));
    for (const bool isUnlisted : {false, true}) {
      Watcher watcher;
      remote::HttpClient client;
      remote::RemoteServer there = hastyServer(server.address());
      there.model = "nope";
      there.isUnlisted = isUnlisted;
      const RemoteResult result = remote::runRemotely(
          client, {{.name = "here", .server = there, .facts = kFacts}}, {}, requestsOf(kJudge), watcher);
      QCOMPARE(result.error.has_value(), !isUnlisted);
      QCOMPARE(server.requests(), isUnlisted ? 2 : 0);
    }
    QCOMPARE(bodyOf(server.request())["model"].get<std::string>(), std::string("nope"));
  }

  void aModelThatIsNotThereIsSaid() {
    Server server(streamed(kEnd));
    Watcher watcher;
    const remote::ServerFacts facts{.version = {}, .models = {{"a", {}}, {"b", {}}}, .slots = {}};
    const RemoteResult result = run(server, watcher, {}, facts);
    QVERIFY(result.error.has_value());
    QVERIFY(result.error->found.find("org/m") != std::string::npos ||
            result.error->found.find("\"m\"") != std::string::npos);
    QVERIFY(result.error->expected.find("a, b") != std::string::npos);
    QCOMPARE(server.requests(), 0);
  }
};

SPANSCOPE_TEST(tst_remote_run, TestRemoteRun)
#include "tst_remote_run.moc"
