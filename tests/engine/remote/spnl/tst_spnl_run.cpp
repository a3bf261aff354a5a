// SPDX-License-Identifier: GPL-3.0-or-later
// A query's calls on a span server: stand-ins answer in the shapes of vLLM's span patch, which SPNL's client
// reads (crates/spnl-run/src/generate/backend/spnl.rs).
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/trace/recorder.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <mutex>
#include <string>
#include <vector>

using namespace spanscope;
using Json = nlohmann::json;
using remote::CachedState;
using remote::RemoteResult;
using remote::ServerKind;
using remote::test::http;
using remote::test::Server;
using spanscope::product_text::worded;

namespace {

QByteArray eventsAnswer(const QByteArray& events) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events;
}

/// A piece of a completion's stream, as the patch sends it for repeats and maps alike.
QByteArray piece(int index, const QByteArray& text, const char* finish = nullptr) {
  return R"(data: {"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":)" +
         QByteArray::number(index) + R"(,"text":")" + text + R"(","logprobs":null,"finish_reason":)" +
         (finish == nullptr ? QByteArray("null") : '"' + QByteArray(finish) + '"') + "}]}\n\n";
}

const QByteArray kDone = "data: [DONE]\n\n";

exports::QueryCalls callsOf(const QByteArray& json) {
  const auto parsed = query::parseJson(json.toStdString());
  if (!parsed.query) qFatal("not a query");
  return exports::queryCalls(*parsed.query);
}

const QByteArray kSpans = R"({"g":{"model":"spnl/org/m","max_tokens":12,"temperature":0.5,"input":{"cross":[)"
                          R"({"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]}}})";
const QByteArray kThree =
    R"({"repeat":{"n":3,"g":{"model":"spnl/m","max_tokens":12,"input":{"user":"Name a town."}}}})";

struct Told : remote::RemoteWatcher {
  void sends(std::size_t request, std::size_t, const std::string&, std::size_t bytes) override {
    sent.emplace_back(request, bytes);
  }
  void changesProtocol(std::size_t, std::size_t, const Error& refusal, const remote::Protocol& now) override {
    changes.push_back(refusal.found + " " + now.name);
  }
  void text(std::size_t request, const std::string& came) override {
    texts.push_back(std::to_string(request) + came);
  }
  std::vector<std::pair<std::size_t, std::size_t>> sent;
  std::vector<std::string> texts;
  std::vector<std::string> changes;
};

std::vector<remote::RemoteTarget> targetAt(const Server& server, ServerKind kind = ServerKind::Vllm) {
  using namespace std::chrono_literals;
  remote::RemoteTarget target{
      .name = "here",
      .server = {.url = server.address(),
                 .model = {},
                 .access = {.limits = {.connect = 2s, .firstByte = 300ms, .silence = 200ms}}},
      .facts = {.kind = kind, .version = {}, .models = {{"org/m", {}}}, .slots = {}}};
  target.facts.protocols = {"spnl", "chat", "completions"};
  target.protocol = remote::findProtocol("spnl");
  // The answers of the server are in the order of the calls.
  target.atOnce = 1;
  return {target};
}

RemoteResult run(const Server& server, const exports::QueryCalls& made, Told& reported,
                 ServerKind kind = ServerKind::Vllm) {
  remote::HttpClient client;
  return remote::runRemotely(client, targetAt(server, kind), {}, made.requests, reported, {}, made.calls);
}

}  // namespace

class TestSpnlRun : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aQueryIsSentWhole() {
    Server server(eventsAnswer(piece(0, "Lis") + piece(0, "bon", "stop") + kDone));
    Told reported;
    const RemoteResult result = run(server, callsOf(kSpans), reported);
    QVERIFY2(!result.error, result.error ? Failure(*result.error).what() : "");
    QCOMPARE(result.steps.size(), std::size_t{1});
    QCOMPARE(result.steps[0].answer.text, std::string("Lisbon"));
    QCOMPARE(result.steps[0].answer.finish, std::string("stop"));
    QVERIFY((reported.texts == std::vector<std::string>{"0Lis", "0bon"}));
    const QByteArray request = server.request();
    QVERIFY2(request.startsWith("POST /v1/query/execute?stream=true&"), request.constData());
    QVERIFY(request.contains("Content-Type: text/plain\r\n"));
    const Json body = Json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
    QCOMPARE(body["repeat"]["n"].get<int>(), 1);
    QCOMPARE(body["repeat"]["g"]["model"].get<std::string>(), std::string("org/m"));
    QCOMPARE(body["repeat"]["g"]["input"]["cross"][0]["plus"].size(), std::size_t{2});
  }

  /// The patch counts nothing: zeros are no figures.
  void countsThatAreNoneAreNotReported() {
    Server server(eventsAnswer(
        piece(0, "x", "stop") +
        R"(data: {"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}})"
        "\n\n" +
        kDone));
    Told reported;
    const RemoteResult result = run(server, callsOf(kSpans), reported);
    QVERIFY(!result.steps[0].answer.promptTokens && !result.steps[0].answer.generatedTokens);
    QVERIFY(result.steps[0].cached.state == CachedState::CannotReport);
  }

  void copiesComeTogether() {
    Server server(eventsAnswer(piece(2, "C") + piece(0, "A") + piece(1, "B", "stop") +
                               piece(0, "a", "length") + piece(2, "c", "stop") +
                               R"(data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,)"
                               R"("prompt_tokens_details":{"cached_tokens":4}}})"
                               "\n\n" +
                               kDone));
    Told reported;
    const RemoteResult result = run(server, callsOf(kThree), reported, ServerKind::Spanscope);
    QVERIFY(!result.error);
    QCOMPARE(server.requests(), 1);
    QCOMPARE(result.steps.size(), std::size_t{3});
    QCOMPARE(result.steps[0].answer.text, std::string("Aa"));
    QCOMPARE(result.steps[1].answer.text, std::string("B"));
    QCOMPARE(result.steps[2].answer.text, std::string("Cc"));
    QCOMPARE(result.steps[0].answer.finish, std::string("length"));
    QVERIFY((reported.texts == std::vector<std::string>{"2C", "0A", "1B", "0a", "2c"}));
    QCOMPARE(reported.sent.size(), std::size_t{3});
    QVERIFY(reported.sent[0].second > 0 && reported.sent[1].second == 0 && reported.sent[2].second == 0);
    // What the server counted, it counted once.
    QCOMPARE(result.steps[0].counted, std::size_t{3});
    QCOMPARE(result.steps[0].cached.tokens, std::int64_t{4});
    QCOMPARE(result.steps[1].counted, std::size_t{0});
    QVERIFY(!result.steps[1].answer.promptTokens);
    QVERIFY(result.steps[1].cached.state == CachedState::NotReported);
  }

  /// SPNL asks so for one token: a repeat is answered as a chat completion, a map as a completion.
  void answersInOnePiece_data() {
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<int>("replies");
    QTest::newRow("repeat")
        << QByteArray(R"({"repeat":{"n":2,"g":{"model":"spnl/m","max_tokens":1,"input":{"user":"a"}}}})")
        << QByteArray(
               R"({"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant",)"
               R"("content":"r0"},"finish_reason":"length"},{"index":1,"message":{"role":"assistant",)"
               R"("content":"r1"},"finish_reason":"length"}],"usage":{"prompt_tokens":0,"completion_tokens":0}})")
        << 2;
    QTest::newRow("map")
        << QByteArray(R"({"map":{"metadata":{"model":"spnl/m","max_tokens":1},"inputs":["a","b"]}})")
        << QByteArray(
               R"({"object":"text_completion","choices":[{"index":0,"text":"r0","finish_reason":"length"},)"
               R"({"index":1,"text":"r1","finish_reason":"length"}]})")
        << 2;
    QTest::newRow("one") << QByteArray(R"({"g":{"model":"spnl/m","max_tokens":1,"input":{"user":"a"}}})")
                         << QByteArray(R"({"choices":[{"index":0,"message":{"content":"r0"}}]})") << 1;
  }
  void answersInOnePiece() {
    QFETCH(QByteArray, query);
    QFETCH(QByteArray, answer);
    QFETCH(int, replies);
    Server server(http(200, answer));
    Told reported;
    const RemoteResult result = run(server, callsOf(query), reported);
    QVERIFY2(!result.error, result.error ? Failure(*result.error).what() : "");
    QVERIFY(server.request().startsWith("POST /v1/query/execute?stream=false "));
    QCOMPARE(result.steps.size(), static_cast<std::size_t>(replies));
    for (std::size_t i = 0; i < result.steps.size(); ++i) {
      QCOMPARE(result.steps[i].answer.text, "r" + std::to_string(i));
      QVERIFY(result.steps[i].timeToFirstToken.has_value());
    }
  }

  void repliesStandInLaterCalls() {
    std::mutex mutex;
    std::vector<Json> bodies;
    Server server([&](const QByteArray& request) {
      const std::lock_guard lock(mutex);
      bodies.push_back(Json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString()));
      return eventsAnswer(piece(0, "r" + QByteArray::number(bodies.size()), "stop") + kDone);
    });
    Told reported;
    const QByteArray inner = R"({"g":{"model":"spnl/m","max_tokens":7,"input":{"user":"Name a town."}}})";
    const RemoteResult result =
        run(server,
            callsOf(R"({"g":{"model":"spnl/m","max_tokens":9,"input":{"cross":[{"plus":[)" + inner +
                    R"(,{"user":"b"}]},{"user":"q"}]}}})"),
            reported);
    QVERIFY(!result.error);
    QCOMPARE(bodies.size(), std::size_t{2});
    // After its own prompt, which the server has computed.
    const Json& child = bodies[1]["repeat"]["g"]["input"]["cross"][0]["plus"][0]["seq"];
    QCOMPARE(child[0]["user"].get<std::string>(), std::string("Name a town."));
    QCOMPARE(child[1]["assistant"].get<std::string>(), std::string("r1"));
  }

  /// What came stays, what follows is not sent.
  void breaks_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<bool>("holds");
    QTest::addColumn<QString>("said");
    QTest::addColumn<QStringList>("broken");
    const auto row = [](const char* name, const QByteArray& answer, bool holds, const char* said,
                        const QStringList& broken) {
      QTest::newRow(name) << answer << holds << worded(said) << broken;
    };
    row("cut", eventsAnswer(piece(0, "A", "stop") + piece(1, "B")), false, "<stream-ended-before>",
        {"", "B", ""});
    row("stall", "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + piece(1, "B", "stop"), true,
        "no data for 0.2 s", {"", "B", ""});
    row("a choice too many", eventsAnswer(piece(0, "A") + piece(3, "D")), false, "choice 3", {"A", "", ""});
    row("a choice of no number",
        eventsAnswer(R"(data: {"choices":[{"text":"A","index":-1}]})"
                     "\n\n"),
        false, "without an index", {"", "", ""});
    row("an error in the stream",
        eventsAnswer(piece(0, "A") +
                     R"(data: {"object":"error","message":"x","error":{"message":"no memory"}})"
                     "\n\n"),
        false, "no memory", {"A", "", ""});
    row("no spans", http(501, R"({"message":"spans are off"})"), false, "status 501: spans are off",
        {"", "", ""});
    row("fell over", http(500, "Internal Server Error"), false, "status 500: Internal Server Error",
        {"", "", ""});
    row("garbage", eventsAnswer("data: \xff\xfe\n\n"), false, "JSON", {"", "", ""});
    row("silence", "", true, "no data within", {"", "", ""});
  }
  void breaks() {
    QFETCH(QByteArray, answer);
    QFETCH(bool, holds);
    QFETCH(QString, said);
    QFETCH(QStringList, broken);
    Server server(answer, holds ? Server::After::Hold : Server::After::Close);
    Told reported;
    const RemoteResult result = run(server, callsOf("{\"seq\":[" + kThree + "," + kSpans + "]}"), reported);
    QVERIFY(result.error.has_value());
    const QString found = QString::fromUtf8(Failure(*result.error).what());
    QVERIFY2(found.contains(said) && found.contains(QStringLiteral("/v1/query/execute")), qPrintable(found));
    QCOMPARE(result.steps.size(), std::size_t{3});
    bool isBroken = false;
    for (int i = 0; i < 3; ++i) {
      const auto& step = result.steps[static_cast<std::size_t>(i)];
      isBroken |= !step.brokenBy.empty();
      if (!broken[i].isEmpty() || !step.answer.text.empty())
        QVERIFY(step.answer.text == broken[i].toStdString() || step.answer.finish == "stop");
    }
    QVERIFY(isBroken);
    QCOMPARE(server.requests(), 1);
  }

  void missingRepliesAreSaid() {
    Server server(http(200, R"({"choices":[{"index":0,"message":{"content":"a"}}]})"));
    Told reported;
    const RemoteResult result =
        run(server, callsOf(R"({"repeat":{"n":2,"g":{"model":"m","max_tokens":1,"input":{"user":"a"}}}})"),
            reported);
    QVERIFY(result.error && result.error->found.find("1 choice") != std::string::npos);
  }

  /// A run there has the same trace as a run by chat completions.
  void theRunIsATrace() {
    Server server(eventsAnswer(piece(0, "A", "stop") + piece(1, "B", "stop") + piece(2, "C", "stop") +
                               R"(data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,)"
                               R"("prompt_tokens_details":{"cached_tokens":4}}})"
                               "\n\n" +
                               kDone));
    const exports::QueryCalls made = callsOf(kThree);
    const std::vector<remote::RemoteTarget> targets = targetAt(server, ServerKind::Spanscope);
    trace::Recorder recorder;
    std::vector<trace::Event> events;
    recorder.setListener([&](const trace::Event& event) { events.push_back(event); });
    remote::RemoteTrace traced(
        recorder, {.program = "test", .queryJson = "{}", .explain = {}, .retrieved = {}, .warnings = {}},
        targets, {}, made.requests);
    traced.begin();
    remote::HttpClient client;
    const RemoteResult result =
        remote::runRemotely(client, targets, {}, made.requests, traced, {}, made.calls);
    traced.end(result);
    int finished = 0;
    int counted = 0;
    bool isNamed = false;
    std::string answer;
    std::vector<std::int64_t> prompts;
    for (const trace::Event& event : events) {
      finished += std::holds_alternative<trace::StepFinished>(event.payload) ? 1 : 0;
      if (const auto* said = std::get_if<trace::MessageLogged>(&event.payload)) {
        counted += said->text.find("5 tokens of 3 replies together") != std::string::npos ? 1 : 0;
        isNamed |= said->text.find("SPNL's query endpoint") != std::string::npos;
      }
      if (const auto* reported = std::get_if<trace::ServerReported>(&event.payload)) {
        prompts.push_back(reported->promptTokens.value_or(-1));
        QVERIFY(!reported->generatedTokens);
      }
      if (const auto* end = std::get_if<trace::RunFinished>(&event.payload)) answer = end->answer;
    }
    QCOMPARE(finished, 3);
    QCOMPARE(counted, 1);
    QVERIFY(isNamed);
    QVERIFY((prompts == std::vector<std::int64_t>{9, -1, -1}));
    QCOMPARE(answer, std::string("A\nB\nC"));
  }

  /// A server with this protocol by default gets messages if it refuses the call.
  void refusedCallsBecomeMessages_data() {
    QTest::addColumn<int>("status");
    QTest::addColumn<bool>("isChanged");
    QTest::newRow("a query that it cannot read") << 400 << true;
    QTest::newRow("it is not there") << 404 << true;
    QTest::newRow("a wrong key") << 401 << false;
    QTest::newRow("it is busy") << 429 << false;
    QTest::newRow("it fails") << 500 << false;
  }
  void refusedCallsBecomeMessages() {
    QFETCH(int, status);
    QFETCH(bool, isChanged);
    std::mutex mutex;
    std::vector<QByteArray> bodies;
    Server server([&](const QByteArray& request) -> QByteArray {
      if (request.startsWith("POST /v1/query/execute")) return http(status, R"({"error":"no plus"})");
      const std::lock_guard lock(mutex);
      bodies.push_back(request);
      return eventsAnswer(piece(0, "A", "stop") + kDone);
    });
    std::vector<remote::RemoteTarget> targets = targetAt(server);
    targets.front().otherwise = &remote::chatProtocol();
    const exports::QueryCalls made = callsOf(kThree);
    const auto chats = exports::chatRequests(*query::parseJson(kThree.toStdString()).query, 7).requests;
    Told reported;
    remote::HttpClient client;
    const RemoteResult result =
        remote::runRemotely(client, targets, {}, made.requests, reported, {}, made.calls, chats);
    QCOMPARE(!result.error, isChanged);
    QCOMPARE(result.changed.contains(0), isChanged);
    if (!isChanged) {
      QVERIFY2(result.error->found.find("no plus") != std::string::npos, result.error->message().c_str());
      return;
    }
    QCOMPARE(reported.changes.size(), std::size_t{1});
    QVERIFY2(reported.changes[0].find("no plus") != std::string::npos, reported.changes[0].c_str());
    QCOMPARE(result.steps.size(), std::size_t{3});
    for (const remote::RemoteStep& step : result.steps) {
      QCOMPARE(step.answer.text, std::string("A"));
      QCOMPARE(step.counted, std::size_t{1});
    }
    QCOMPARE(bodies.size(), std::size_t{3});
    for (const QByteArray& body : bodies)
      QVERIFY(body.startsWith("POST /v1/chat/completions ") && body.contains("\"seed\""));
  }

  void protocolsHaveNames() {
    for (const remote::Protocol* protocol : remote::protocols())
      QCOMPARE(remote::findProtocol(protocol->name), protocol);
    QVERIFY(remote::findProtocol("grpc") == nullptr);
  }
};

SPANSCOPE_TEST(tst_spnl_run, TestSpnlRun)
#include "tst_spnl_run.moc"
