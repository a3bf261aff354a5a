// SPDX-License-Identifier: GPL-3.0-or-later
// Our own client of span queries against our own server, in both shapes of an answer.
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/server/server.h"
#include "tests/engine/remote/server/http_client.h"
#include "tests/engine/remote/server/stand_in_engine.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::server::test;

namespace {

remote::RemoteResult askItself(const Server& server, const QByteArray& json) {
  const auto parsed = query::parseJson(json.toStdString());
  const exports::QueryCalls made = exports::queryCalls(*parsed.query);
  remote::HttpClient client;
  remote::RemoteTarget target{.name = "here", .server = {.url = server.url(), .model = {}}, .facts = {}};
  target.facts = remote::askServer(client, server.url(), {});
  target.protocol = remote::findProtocol("spnl");
  remote::RemoteWatcher watcher;
  return remote::runRemotely(client, {target}, {}, made.requests, watcher, {}, made.calls);
}

/// A server on any port, which answers to these names of its model; none: to its own.
struct Served {
  explicit Served(std::vector<std::string> names = {}) : server(configOf(std::move(names)), engine) {
    server.start();
  }
  static ServerConfig configOf(std::vector<std::string> names) {
    ServerConfig config;
    config.port = 0;
    if (!names.empty()) config.names = std::move(names);
    return config;
  }
  StandInEngine engine;
  Server server;
};

}  // namespace

class TestSpnlClient : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyEndpointIsFound() {
    Served served;
    remote::HttpClient client;
    const remote::ServerFacts facts = remote::askServer(client, served.server.url(), {});
    QVERIFY(facts.kind == remote::ServerKind::Spanscope);
    QVERIFY(facts.takes("spnl") && facts.takes("chat") && facts.takes("completions"));
    QCOMPARE(served.engine.begun(), 0);
  }

  void queriesAreAnswered_data() {
    QTest::addColumn<QByteArray>("query");
    QTest::addColumn<int>("replies");
    const QByteArray spans = R"("input":{"cross":[{"plus":[{"user":"a"},{"user":"b"}]},{"user":"q"}]})";
    QTest::newRow("as a stream") << R"({"g":{"model":"spnl/x","max_tokens":40,)" + spans + "}}" << 1;
    QTest::newRow("copies as a stream")
        << R"({"repeat":{"n":3,"g":{"model":"spnl/x","max_tokens":40,)" + spans + "}}}" << 3;
    QTest::newRow("in one piece") << R"({"g":{"model":"spnl/x","max_tokens":1,)" + spans + "}}" << 1;
    QTest::newRow("a map in one piece")
        << QByteArray(R"({"map":{"metadata":{"model":"spnl/x","max_tokens":1},"inputs":["a","b"]}})") << 2;
  }
  void queriesAreAnswered() {
    QFETCH(QByteArray, query);
    QFETCH(int, replies);
    Served served({"*"});
    const remote::RemoteResult result = askItself(served.server, query);
    QVERIFY2(!result.error, result.error ? result.error->found.c_str() : "");
    QCOMPARE(result.steps.size(), static_cast<std::size_t>(replies));
    for (const remote::RemoteStep& step : result.steps) {
      QVERIFY(step.brokenBy.empty());
      QVERIFY(!step.answer.text.empty() && served.engine.reply.starts_with(step.answer.text));
    }
    // Also of a stream it is known what was counted.
    QVERIFY(result.steps[0].answer.promptTokens.value_or(0) > 0);
    QVERIFY(result.steps[0].cached.state != remote::CachedState::NotReported);
    QCOMPARE(served.engine.begun(), 1);
  }

  void usageComesOnlyWhereItIsAskedFor() {
    Served served;
    const std::string body = R"({"repeat":{"n":1,"g":{"model":"","input":{"user":"a"}}}})";
    const std::string path = "/v1/query/execute?stream=true";
    QVERIFY(ask(served.server.port(), "POST", path, body).body.find("\"usage\"") == std::string::npos);
    QVERIFY(ask(served.server.port(), "POST", path + "&include_usage=true", body)
                .body.find("\"prompt_tokens\"") != std::string::npos);
    QCOMPARE(ask(served.server.port(), "POST", path + "&include_usage=1", body).status, 400);
  }

  void responsesAreRefusedInWords() {
    Served served;
    const HttpAnswer answer =
        ask(served.server.port(), "POST", "/v1/responses", R"({"model":"m","input":"hi"})");
    QCOMPARE(answer.status, 404);
    QVERIFY2(answer.body.find("chat completions") != std::string::npos, answer.body.c_str());
    QVERIFY(answer.body.find("\"unsupported_endpoint\"") != std::string::npos);
  }
};

SPANSCOPE_TEST(tst_spnl_client, TestSpnlClient)
#include "tst_spnl_client.moc"
