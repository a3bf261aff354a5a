// SPDX-License-Identifier: GPL-3.0-or-later
// A query's chat completions on a server: what is sent, what comes of it, and what stays of a break.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <nlohmann/json.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using Json = nlohmann::json;
using remote::RemoteResult;
using remote::ServerKind;
using remote::test::Server;
using spanscope::product_text::worded;

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

const char* const kFour = R"({"g":{"model":"m","max_tokens":4,"temperature":0.0,"input":{"cross":[{"plus":[)"
                          R"({"g":{"model":"m","max_tokens":4,"input":{"user":"Name 0."}}},)"
                          R"({"g":{"model":"m","max_tokens":4,"input":{"user":"Name 1."}}},)"
                          R"({"g":{"model":"m","max_tokens":4,"input":{"user":"Name 2."}}},)"
                          R"({"g":{"model":"m","max_tokens":4,"input":{"user":"Name 3."}}}]},)"
                          R"({"user":"Which is best?"}]}}})";

/// The number of the leaf of kFour that a request is; 4: the judge.
int leafOf(const QByteArray& request) {
  const Json body = bodyOf(request);
  const Json& messages = body["messages"];
  const std::string text = messages[0]["content"].get<std::string>();
  return messages.size() == 1 && text.starts_with("Name ") ? text[5] - '0' : 4;
}

/// Counts requests that have come; others wait for a number of them.
class Arrivals {
 public:
  void come() {
    const std::lock_guard lock(m_mutex);
    ++m_count;
    m_changed.notify_all();
  }
  /// Waits until this number has arrived, but not for ever: a run that sends them one after the other has to
  /// end.
  void waitFor(int count) {
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, std::chrono::seconds(5), [&] { return m_count >= count; });
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_changed;
  int m_count = 0;
};

struct Watcher : remote::RemoteWatcher {
  void stepBegins(std::size_t request) override { begun.push_back(request); }
  void promptProgress(std::size_t, const remote::PromptProgress& reported) override {
    progress.push_back(reported);
  }
  void text(std::size_t, const std::string& piece) override {
    pieces.push_back(piece);
    if (stop != nullptr) stop->request_stop();
  }
  void fails(std::size_t request, const Error& error) override {
    failed.emplace_back(request, error);
    failedBefore.push_back(ended.size());
  }
  void stepEnds(const remote::RemoteStep& step) override { ended.push_back(step.request); }

  std::vector<std::pair<std::size_t, Error>> failed;
  std::vector<std::size_t> failedBefore;  ///< how many steps had ended then
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

RemoteResult runFour(const std::string& url, remote::RemoteWatcher& watcher,
                     std::size_t atOnce = remote::kStandardAtOnce, const std::stop_token& stop = {}) {
  remote::HttpClient client;
  remote::RemoteTarget target{.name = "here", .server = {.url = url, .model = {}}, .facts = kFacts};
  target.atOnce = atOnce;
  return remote::runRemotely(client, {target}, {}, requestsOf(kFour), watcher, stop);
}

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

  /// Those that come last end first; whatever they are, results are in the order of the query.
  void independentStepsAreSentTogether() {
    Arrivals came;
    std::array<Arrivals, 4> ended;
    std::mutex mutex;
    Json judge;
    remote::test::ServerOfMany server([&](const QByteArray& request) {
      const int leaf = leafOf(request);
      if (leaf == 4) {
        const std::lock_guard lock(mutex);
        judge = bodyOf(request);
        return streamed(chunk("B") + kEnd);
      }
      came.come();
      came.waitFor(4);
      if (leaf < 3) ended.at(static_cast<std::size_t>(leaf) + 1).waitFor(1);
      ended.at(static_cast<std::size_t>(leaf)).come();
      return streamed(chunk("reply " + QByteArray::number(leaf)) + kEnd);
    });
    Watcher watcher;
    const RemoteResult result = runFour(server.address(), watcher);
    QVERIFY(!result.error && !result.isStopped);
    QCOMPARE(server.most(), 4);
    QVERIFY((watcher.begun == std::vector<std::size_t>{0, 1, 2, 3, 4}));
    QCOMPARE(watcher.ended.size(), std::size_t{5});
    QCOMPARE(watcher.ended.back(), std::size_t{4});
    QCOMPARE(result.steps.size(), std::size_t{5});
    for (std::size_t i = 0; i < 5; ++i) QCOMPARE(result.steps[i].request, i);
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string reply = "reply " + std::to_string(i);
      QCOMPARE(result.steps[i].answer.text, reply);
      QCOMPARE(judge["messages"][i]["content"].get<std::string>(), reply);
    }
  }

  void howManyAreSentTogether_data() {
    QTest::addColumn<int>("atOnce");
    QTest::addColumn<int>("most");
    QTest::newRow("one after the other") << 1 << 1;
    QTest::newRow("two") << 2 << 2;
    QTest::newRow("all") << 64 << 4;
  }
  void howManyAreSentTogether() {
    QFETCH(int, atOnce);
    QFETCH(int, most);
    Arrivals came;
    remote::test::ServerOfMany server([&](const QByteArray& request) {
      if (leafOf(request) < 4) {
        came.come();
        came.waitFor(most);
      }
      return streamed(chunk("x") + kEnd);
    });
    Watcher watcher;
    QVERIFY(!runFour(server.address(), watcher, static_cast<std::size_t>(atOnce)).error);
    QCOMPARE(server.most(), most);
    QVERIFY((watcher.begun == std::vector<std::size_t>{0, 1, 2, 3, 4}));
  }

  /// A stop ends every request that is under way at the server, and what came of each stays.
  void aStopEndsAll() {
    remote::test::ServerOfMany server(
        [](const QByteArray&) { return "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + chunk("Lis"); },
        Server::After::Hold);
    struct Stopper : Watcher {
      void text(std::size_t, const std::string&) override {
        if (++texts == 4) source.request_stop();
      }
      std::stop_source source;
      int texts = 0;
    } watcher;
    const RemoteResult result = runFour(server.address(), watcher, 8, watcher.source.get_token());
    QVERIFY(result.isStopped && !result.error);
    QCOMPARE(result.steps.size(), std::size_t{4});
    for (const remote::RemoteStep& step : result.steps) {
      QCOMPARE(step.answer.text, std::string("Lis"));
      QVERIFY(!step.brokenBy.empty());
    }
    QTRY_COMPARE(server.left(), 4);
  }

  /// Where some fail, those that are under way come to their end, and nothing more is sent.
  void someFail() {
    Arrivals came;
    std::atomic<int> judges = 0;
    remote::test::ServerOfMany server([&](const QByteArray& request) {
      const int leaf = leafOf(request);
      judges += leaf == 4 ? 1 : 0;
      came.come();
      came.waitFor(4);
      if (leaf % 2 == 1)
        return remote::test::http(400, "{\"error\":\"no " + QByteArray::number(leaf) + "\"}");
      return streamed(chunk("x") + kEnd);
    });
    Watcher watcher;
    const RemoteResult result = runFour(server.address(), watcher);
    QCOMPARE(judges.load(), 0);
    QCOMPARE(result.steps.size(), std::size_t{4});
    for (const std::size_t i : {0U, 2U}) QVERIFY(result.steps[i].brokenBy.empty());
    for (const std::size_t i : {1U, 3U}) QVERIFY(!result.steps[i].brokenBy.empty());
    QCOMPARE(result.errors.size(), std::size_t{2});
    QVERIFY(result.error && result.error->found.find("no 1") != std::string::npos);
    QCOMPARE(result.error->place, std::string("/g/input/cross/0/plus/1"));
    QVERIFY(result.errors.at(3).found.find("no 3") != std::string::npos);
  }

  /// An error is known while its siblings still come: they end only after the watcher has got it.
  void errorsAreKnownAtOnce() {
    Arrivals known;
    remote::test::ServerOfMany server([&](const QByteArray& request) {
      if (leafOf(request) == 2) return remote::test::http(400, R"({"error":"no 2"})");
      known.waitFor(1);
      return streamed(chunk("x") + kEnd);
    });
    struct Hearer : Watcher {
      void fails(std::size_t request, const Error& error) override {
        Watcher::fails(request, error);
        heard->come();
      }
      Arrivals* heard = nullptr;
    } watcher;
    watcher.heard = &known;
    const RemoteResult result = runFour(server.address(), watcher);
    QCOMPARE(watcher.failed.size(), std::size_t{1});
    QCOMPARE(watcher.failed.front().first, std::size_t{2});
    QCOMPARE(watcher.failedBefore.front(), std::size_t{0});
    QCOMPARE(watcher.ended.size(), std::size_t{4});
    QVERIFY(result.error && *result.error == watcher.failed.front().second);
  }

  /// Copies of one node have one place, and each its number.
  void copiesThatFailAreApart_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::addColumn<bool>("isRoot");
    QTest::newRow("a status") << remote::test::http(400, R"({"error":"no"})") << false;
    QTest::newRow("no answer") << streamed(kEnd) << false;
    QTest::newRow("at the root") << streamed(kEnd) << true;
  }
  void copiesThatFailAreApart() {
    QFETCH(QByteArray, answer);
    QFETCH(bool, isRoot);
    remote::test::ServerOfMany server([&answer](const QByteArray&) { return answer; });
    remote::HttpClient client;
    Watcher watcher;
    const remote::RemoteTarget target{
        .name = "here", .server = {.url = server.address(), .model = {}}, .facts = kFacts};
    const RemoteResult result = remote::runRemotely(
        client, {target}, {},
        requestsOf(isRoot ? R"({"repeat":{"n":3,"g":{"model":"m","input":{"user":"Hi"}}}})"
                          : R"({"plus":[{"repeat":{"n":3,"g":{"model":"m","input":{"user":"Hi"}}}}]})"),
        watcher);
    std::set<std::string> places;
    for (const auto& [request, error] : watcher.failed) {
      QVERIFY2(error.place.starts_with(isRoot ? "the root" : "/plus/0"), error.place.c_str());
      places.insert(error.place);
    }
    QVERIFY(watcher.failed.size() > 1);
    QCOMPARE(places.size(), watcher.failed.size());
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

  void refusedFields_data() {
    QTest::addColumn<QByteArray>("field");
    QTest::addColumn<QByteArray>("refusal");
    QTest::addColumn<QByteArray>("instead");
    QTest::addColumn<bool>("isSilent");
    const auto row = [](const char* field, const QByteArray& refusal, const char* instead, bool isSilent) {
      QTest::newRow(field) << QByteArray(field) << refusal << QByteArray(instead) << isSilent;
    };
    // OpenAI, OpenAI, a server on pydantic, and Google.
    row("max_tokens",
        R"({"error":{"message":"Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}})",
        "max_completion_tokens", true);
    row("temperature", R"({"error":{"message":"'temperature' does not support 0.5 with this model."}})", "",
        false);
    row("stream_options",
        R"({"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"input":{}}]})", "", true);
    row("seed", R"([{"error":{"code":400,"message":"Invalid JSON payload received. Unknown name 'seed'"}}])",
        "", false);
  }
  /// A server that refuses a field gets the request again without the field, or with its accepted name. Later
  /// requests do not have the field.
  void refusedFields() {
    QFETCH(QByteArray, field);
    QFETCH(QByteArray, refusal);
    QFETCH(QByteArray, instead);
    QFETCH(bool, isSilent);
    std::mutex mutex;
    std::vector<Json> bodies;
    Server server([&](const QByteArray& request) {
      const std::lock_guard lock(mutex);
      bodies.push_back(bodyOf(request));
      if (!bodies.back().contains(field.toStdString())) return streamed(chunk("x") + kEnd);
      return "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: "
             "close\r\nContent-Length: " +
             QByteArray::number(refusal.size()) + "\r\n\r\n" + refusal;
    });
    const auto parsed = query::parseJson(kJudge);
    const std::vector<exports::ChatRequest> requests = exports::chatRequests(*parsed.query, 5).requests;
    Watcher watcher;
    remote::HttpClient client;
    const RemoteResult result = remote::runRemotely(
        client, {{.name = "there", .server = {.url = server.address(), .model = "m"}, .facts = kFacts}}, {},
        requests, watcher);
    QVERIFY(!result.error);
    QCOMPARE(bodies.size(), std::size_t{3});
    for (const std::size_t sent : {1, 2}) {
      Json expected = bodies.at(sent);
      if (!instead.isEmpty()) QVERIFY(expected.contains(instead.toStdString()));
      QVERIFY(!expected.contains(field.toStdString()));
    }
    for (const remote::RemoteStep& step : result.steps) QCOMPARE(step.warning.empty(), isSilent);
  }

  /// A refusal that does not concern a known field, and a value that is too large, end the request.
  void otherRefusals() {
    for (const QByteArray& refusal :
         {QByteArray(R"({"error":{"message":"max_tokens is too large: 12. This is not supported."}})"),
          QByteArray(R"({"error":{"message":"temperature must be below 0.5"}})"),
          QByteArray(R"({"error":{"message":"Unsupported parameter: 'max_temperature'"}})")}) {
      Server server("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: " +
                    QByteArray::number(refusal.size()) + "\r\n\r\n" + refusal);
      Watcher watcher;
      QVERIFY(run(server, watcher).error);
      QCOMPARE(server.requests(), 1);
    }
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
      QTest::newRow(name) << answer << holds << QString(text) << worded(said);
    };
    row("cut", streamed(chunk("Lis")), false, "Lis", "<stream-ended-before>");
    row("cut in an event", streamed(chunk("Lis") + "data: [1, "), false, "Lis", "chat completion in JSON");
    row("stall", "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + chunk("Lis"), true, "Lis",
        "no data for 0.2 s");
    row("silence", "", true, "", "no data within");
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
    Server server(
        "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n"
        R"(data: {"choices":[],"prompt_progress":{"total":9,"cache":4,"processed":9,"time_ms":3}})"
        "\n\n" +
            chunk("Lis"),
        Server::After::Hold);
    std::stop_source stop;
    Watcher watcher;
    watcher.stop = &stop;
    const RemoteResult result = run(server, watcher, stop.get_token());
    // The counts of a complete answer come at its end, but the progress has them, too.
    QCOMPARE(result.steps[0].answer.cachedTokens, std::optional<std::int64_t>(4));
    QCOMPARE(result.steps[0].answer.promptTokens, std::optional<std::int64_t>(9));
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
