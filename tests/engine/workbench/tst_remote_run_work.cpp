// SPDX-License-Identifier: GPL-3.0-or-later
// Runs of documents on servers as jobs: which server answers which step, the predictions, and what is
// refused.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/trace/replay.h"
#include "engine/workbench/document/document.h"
#include "engine/workbench/resource_paths.h"
#include "engine/workbench/servers/server_requests.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/remote_run_job.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QByteArray>
#include <QObject>
#include <QString>
#include <QTest>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace spanscope;
using remote::test::http;
using remote::test::Server;
using spanscope::product_text::says;
using spanscope::product_text::worded;
using workbench::JobState;
using workbench::RemoteRunJob;
using workbench::RemoteRunRequest;

namespace {

const char* const kNested = R"({"g":{"model":"tiny","max_tokens":4,"input":{"cross":[)"
                            R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name a town."}}},)"
                            R"({"user":"Is it large?"}]}}})";
const char* const kPlain = R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name a town."}}})";

/// As llama.cpp's, which says how many tokens a prompt has.
Server::Answer llamaSaying(std::size_t promptTokens, std::size_t cached) {
  return [=](const QByteArray& request) -> QByteArray {
    const QByteArray path = request.split(' ').value(1);
    if (path == "/v1/models") return http(200, R"({"data":[{"id":"tiny","owned_by":"llamacpp"}]})");
    if (path == "/props") return http(200, R"({"build_info":"b7","total_slots":1})");
    if (path != "/v1/chat/completions") return http(404, "{}");
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
           "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Lisbon\"}}]}\n\n"
           "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"timings\":{"
           "\"cache_n\":" +
           QByteArray::number(qulonglong(cached)) +
           ",\"prompt_n\":" + QByteArray::number(qulonglong(promptTokens - cached)) +
           ",\"predicted_n\":2}}\n\ndata: [DONE]\n\n";
  };
}

const char* const kSpans = R"({"g":{"model":"tiny","max_tokens":4,"temperature":0.5,"input":{"cross":[)"
                           R"({"plus":[{"g":{"model":"tiny","max_tokens":4,"temperature":0.5,"input":)"
                           R"({"user":"Name a town."}}},{"user":"Towns are large."}]},)"
                           R"({"user":"Is it large?"}]}}})";

const char* const kJudge =
    R"({"g":{"model":"tiny","max_tokens":4,"temperature":0.0,"input":{"cross":[{"plus":[)"
    R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name A."}}},)"
    R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name B."}}},)"
    R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name C."}}},)"
    R"({"g":{"model":"tiny","max_tokens":4,"input":{"user":"Name D."}}}]},)"
    R"({"user":"Which is best?"}]}}})";

/// What a server was sent that is no question about itself: the path, and the body.
class Bodies {
 public:
  void add(const QByteArray& request) {
    const std::lock_guard lock(m_mutex);
    m_all.emplace_back(request.split(' ').value(1), request.mid(request.indexOf("\r\n\r\n") + 4));
  }
  std::vector<std::pair<QByteArray, QByteArray>> all() const {
    const std::lock_guard lock(m_mutex);
    return m_all;
  }

 private:
  mutable std::mutex m_mutex;
  std::vector<std::pair<QByteArray, QByteArray>> m_all;
};

/// A server that takes span queries and texts, and perhaps chats.
Server::Answer takingAll(Bodies& bodies, bool takesChats) {
  return [&bodies, takesChats](const QByteArray& request) -> QByteArray {
    const QByteArray path = request.split(' ').value(1);
    if (path == "/v1/models") return http(200, R"({"data":[{"id":"tiny","owned_by":"somebody"}]})");
    const bool isEmpty = request.endsWith("\r\n\r\n");
    const bool isKnown = path.startsWith("/v1/query/execute") || path == "/v1/completions" ||
                         (takesChats && path == "/v1/chat/completions");
    if (!isKnown) return http(404, "{}");
    if (isEmpty) return http(400, R"({"error":"nothing"})");
    bodies.add(request);
    const QByteArray said =
        path == "/v1/completions" ? R"("text":"Lisbon")" : R"("delta":{"content":"Lisbon"})";
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndata: {\"choices\":[{\"index\":0," + said +
           ",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
  };
}

struct Ran {
  JobState state = JobState::Waiting;
  std::string problem;
  std::vector<trace::Event> events;
  trace::Replay replay;

  std::vector<std::string> notes(const char* begin) const {
    std::vector<std::string> notes;
    for (const trace::Event& event : events) {
      const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
      if (message != nullptr && message->severity == Severity::Note && message->text.starts_with(begin))
        notes.push_back(message->text);
    }
    return notes;
  }
  std::vector<std::string> warnings(const char* begin) const {
    std::vector<std::string> warnings;
    for (const trace::Event& event : events) {
      const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
      if (message != nullptr && message->severity == Severity::Warning && message->text.starts_with(begin))
        warnings.push_back(message->text);
    }
    return warnings;
  }
};

RemoteRunRequest requestOf(const char* json, const std::vector<workbench::NamedServer>& servers) {
  RemoteRunRequest request;
  request.query = *query::parseJson(json).query;
  request.servers = servers;
  if (!servers.empty()) request.settings.server = servers.front().name;
  request.run = 3;
  return request;
}

Ran carriedOut(RemoteRunRequest request) {
  workbench::JobContextWatcher watcher;
  workbench::JobService service(test::cpuBackends(), watcher);
  const auto work = std::make_shared<RemoteRunJob>(std::move(request));
  const workbench::JobHandle handle = service.submit(work);
  handle.wait();
  Ran ran{.state = handle.state(), .problem = handle.problem(), .events = {}, .replay = {}};
  work->recorder()->drain(ran.events);
  for (const trace::Event& event : ran.events) {
    if (const auto error = ran.replay.apply(event)) qFatal("%s", error->message().c_str());
  }
  return ran;
}

std::vector<TokenId> promptOf(const char* text) {
  const checkpoint::Checkpoint checkpoint(workbench::bundledModelDirectory());
  const auto tokenizer = text::loadTokenizer(checkpoint);
  return workbench::chatTokens({{.role = query::Role::User, .content = text, .answerOf = {}, .node = {}}},
                               *tokenizer, text::findChatTemplate(checkpoint));
}

}  // namespace

class TestRemoteRunWork : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyStepGoesThere() {
    Server server(llamaSaying(40, 8));
    const Ran ran = carriedOut(requestOf(kNested, {{.name = "gpu-3", .url = server.address()}}));
    QVERIFY2(ran.state == JobState::Finished, ran.problem.c_str());
    const trace::RunState& run = ran.replay.progress().runs.at(3);
    QCOMPARE(run.policy, std::string("llama.cpp on gpu-3"));
    QCOMPARE(run.requests.size(), std::size_t{2});
    QVERIFY(server.request().contains("Lisbon"));
  }

  /// What the embedded engine answers is no request to the server.
  void aStepStaysHere() {
    Server server(llamaSaying(40, 8));
    RemoteRunRequest request = requestOf(kNested, {{.name = "gpu-3", .url = server.address()}});
    request.serverOf["/g/input/cross/0"] = document::kEmbedded;
    std::vector<std::string> asked;
    request.embedded = [&asked](const exports::ChatRequest& chat, const remote::LocalWatch& watch,
                                const std::stop_token&) {
      asked.push_back(chat.messages.front().content);
      watch.prompt({.total = 5, .cached = 1, .processed = 3});
      watch.text("Por");
      watch.text("to");
      remote::RemoteStep step;
      step.answer.text = "Porto";
      step.answer.promptTokens = 5;
      step.answer.cachedTokens = 0;
      step.answer.generatedTokens = 1;
      step.cached = {.state = remote::CachedState::MeasuredZero};
      return step;
    };
    const Ran ran = carriedOut(std::move(request));
    QVERIFY2(ran.state == JobState::Finished, ran.problem.c_str());
    QVERIFY((asked == std::vector<std::string>{"Name a town."}));
    QVERIFY(server.request().contains("Porto"));
    const auto& requests = ran.replay.progress().requests;
    QCOMPARE(requests.at(1).reported->server, std::string("the embedded engine"));
    QCOMPARE(requests.at(2).reported->server, std::string("gpu-3"));
    // It comes as it is made, and not once more at its end.
    std::vector<std::string> pieces;
    std::int64_t processed = 0;
    for (const trace::Event& event : ran.events) {
      if (event.request != 1) continue;
      if (const auto* text = std::get_if<trace::TextReceived>(&event.payload)) pieces.push_back(text->text);
      if (const auto* prompt = std::get_if<trace::PromptReported>(&event.payload))
        processed = prompt->processed;
    }
    QVERIFY((pieces == std::vector<std::string>{"Por", "to"}));
    QCOMPARE(processed, std::int64_t{3});
    QCOMPARE(ran.replay.progress().runs.at(3).policy, std::string("the embedded engine, llama.cpp on gpu-3"));
  }

  /// Simulators speak only of prompts that the server counts as this model does.
  void whatASimulatorForetells() {
    const std::vector<TokenId> prompt = promptOf("Name a town.");
    Server server(llamaSaying(prompt.size(), 0));
    const auto simulators = std::make_shared<workbench::ServerSimulators>();
    const auto notesOf = [&](const Server& there) {
      RemoteRunRequest request = requestOf(kPlain, {{.name = "gpu-3", .url = there.address()}});
      request.simulators = simulators;
      return carriedOut(std::move(request)).notes("Predicted");
    };
    const std::string all = std::to_string(prompt.size());
    const std::vector<std::string> first = notesOf(server);
    QCOMPARE(first.size(), std::size_t{1});
    QVERIFY2(says(first[0], "<predicted-by-simulator> llama.cpp"), first[0].c_str());
    QVERIFY2(first[0].ends_with(": 0 of " + all + " prompt tokens cached"), first[0].c_str());
    // The same once more is found but for its last token.
    const std::vector<std::string> second = notesOf(server);
    const std::string found = std::to_string(prompt.size() - 1);
    QCOMPARE(second.size(), std::size_t{1});
    QVERIFY2(second[0].ends_with(": " + found + " of " + all + " prompt tokens cached"), second[0].c_str());
    Server other(llamaSaying(prompt.size() + 1, 0));
    QVERIFY(notesOf(other).empty());
  }

  /// A server whose version is another one than that of the rules says both.
  void theServersOwnVersion() {
    Server server(llamaSaying(promptOf("Name a town.").size(), 0));
    RemoteRunRequest request = requestOf(kPlain, {{.name = "gpu-3", .url = server.address()}});
    request.simulators = std::make_shared<workbench::ServerSimulators>();
    const std::vector<std::string> notes = carriedOut(std::move(request)).notes("Predicted");
    QCOMPARE(notes.size(), std::size_t{1});
    QVERIFY2(notes[0].find(" b7 ") != std::string::npos, notes[0].c_str());
  }

  /// The cache simulator has the requests before a stop, and their results.
  void whatWasSentBeforeAStop() {
    const std::vector<TokenId> prompt = promptOf("Name a town.");
    const Server::Answer whole = llamaSaying(prompt.size(), 0);
    remote::test::ServerOfMany held(
        [&](const QByteArray& asked) -> QByteArray {
          if (asked.split(' ').value(1) != "/v1/chat/completions") return whole(asked);
          return "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n"
                 "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Lis\"}}]}\n\n";
        },
        Server::After::Hold);
    const auto simulators = std::make_shared<workbench::ServerSimulators>();
    {
      RemoteRunRequest request = requestOf(kPlain, {{.name = "gpu-3", .url = held.address()}});
      request.simulators = simulators;
      workbench::JobContextWatcher watcher;
      workbench::JobService service(test::cpuBackends(), watcher);
      const auto work = std::make_shared<RemoteRunJob>(std::move(request));
      const auto isText = [](const trace::Event& event) {
        return std::holds_alternative<trace::TextReceived>(event.payload);
      };
      workbench::JobHandle handle = service.submit(work);
      std::vector<trace::Event> events;
      QTRY_VERIFY((work->recorder()->drain(events), std::any_of(events.begin(), events.end(), isText)));
      handle.stop();
      handle.wait();
      QVERIFY(handle.state() == JobState::Stopped);
    }
    Server server(whole);
    RemoteRunRequest request = requestOf(kPlain, {{.name = "gpu-3", .url = server.address()}});
    request.simulators = simulators;
    const std::vector<std::string> notes = carriedOut(std::move(request)).notes("Predicted");
    const std::string all = std::to_string(prompt.size());
    QCOMPARE(notes.size(), std::size_t{1});
    QVERIFY2(
        notes[0].ends_with(": " + std::to_string(prompt.size() - 1) + " of " + all + " prompt tokens cached"),
        notes[0].c_str());
  }

  /// Steps that do not need each other are under way at the same time, as many as the list says.
  void stepsAreSentTogether_data() {
    QTest::addColumn<int>("atOnce");
    QTest::addColumn<int>("most");
    QTest::newRow("standard") << 0 << 4;
    QTest::newRow("two") << 2 << 2;
    QTest::newRow("one after the other") << 1 << 1;
  }
  void stepsAreSentTogether() {
    QFETCH(int, atOnce);
    QFETCH(int, most);
    std::mutex mutex;
    std::condition_variable changed;
    int came = 0;
    const Server::Answer whole = llamaSaying(40, 8);
    remote::test::ServerOfMany server([&](const QByteArray& asked) {
      if (asked.contains("Name ") && !asked.contains("best")) {
        std::unique_lock lock(mutex);
        ++came;
        changed.notify_all();
        changed.wait_for(lock, std::chrono::seconds(5), [&] { return came >= most; });
      }
      return whole(asked);
    });
    workbench::NamedServer named{.name = "gpu-3", .url = server.address()};
    named.atOnce = static_cast<std::size_t>(atOnce);
    const Ran ran = carriedOut(requestOf(kJudge, {named}));
    QVERIFY2(ran.state == JobState::Finished, ran.problem.c_str());
    QCOMPARE(server.most(), most);
    const auto& requests = ran.replay.progress().requests;
    QCOMPARE(requests.size(), std::size_t{5});
    for (const auto& [id, request] : requests) QCOMPARE(request.text, std::string("Lisbon"));
  }

  /// The list says in which protocol a server is asked; without a word there it is the first that it takes.
  void theProtocolOfTheList_data() {
    QTest::addColumn<QString>("protocol");
    QTest::addColumn<bool>("takesChats");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("said");
    QTest::newRow("by itself") << "" << true << "/v1/query/execute"
                               << "SPNL's query endpoint";
    QTest::newRow("by itself, without chats") << "" << false << "/v1/query/execute"
                                              << "SPNL's query endpoint";
    QTest::newRow("chat") << "chat" << true << "/v1/chat/completions"
                          << "chat completions";
    QTest::newRow("spnl") << "spnl" << true << "/v1/query/execute?stream=true&include_usage=true"
                          << "SPNL's query endpoint";
    QTest::newRow("completions") << "completions" << true << "/v1/completions"
                                 << "text completions, under the template ";
  }
  void theProtocolOfTheList() {
    QFETCH(QString, protocol);
    QFETCH(bool, takesChats);
    QFETCH(QString, path);
    QFETCH(QString, said);
    Bodies bodies;
    Server server(takingAll(bodies, takesChats));
    const Ran ran = carriedOut(
        requestOf(kSpans, {{.name = "gpu-3", .url = server.address(), .protocol = protocol.toStdString()}}));
    QVERIFY2(ran.state == JobState::Finished, ran.problem.c_str());
    QCOMPARE(bodies.all().size(), std::size_t{2});
    for (const auto& [where, body] : bodies.all()) {
      QVERIFY2(where.startsWith(path.toUtf8()), where.constData());
    }
    // The spans are in it, or a message says that they are not.
    QCOMPARE(bodies.all().back().second.contains("\"plus\""), path.contains(QStringLiteral("query")));
    QVERIFY(bodies.all().back().second.contains("Lisbon"));
    const auto& requests = ran.replay.progress().requests;
    QCOMPARE(requests.size(), std::size_t{2});
    QCOMPARE(requests.at(2).text, std::string("Lisbon"));
    const std::vector<std::string> sent = ran.notes("Sent by ");
    QCOMPARE(sent.size(), std::size_t{2});
    QVERIFY2(sent.front().starts_with("Sent by " + said.toStdString()), sent.front().c_str());
    const bool isWhole = path.contains(QStringLiteral("query"));
    QCOMPARE(ran.warnings("A plus becomes").empty(), isWhole);
    QCOMPARE(ran.warnings(worded(std::string("<request-seed-not-sent>")).c_str()).empty(), !isWhole);
    // It is said before anything is sent.
    for (std::size_t i = 0, sentBefore = 0; i < ran.events.size(); ++i) {
      sentBefore += std::holds_alternative<trace::RequestSent>(ran.events[i].payload) ? 1 : 0;
      const auto* message = std::get_if<trace::MessageLogged>(&ran.events[i].payload);
      if (message != nullptr && message->severity == Severity::Warning) QCOMPARE(sentBefore, std::size_t{0});
    }
  }

  /// Attention locality puts judges between the nodes: what a node says of its server goes with the node.
  void serversStayWithTheirNodes() {
    Bodies here;
    Bodies there;
    Server one(takingAll(here, true));
    Server other(takingAll(there, true));
    RemoteRunRequest request = requestOf(kJudge, {{.name = "a", .url = one.address(), .protocol = "chat"},
                                                  {.name = "b", .url = other.address(), .protocol = "chat"}});
    request.settings.locality = 2;
    request.serverOf["/g/input/cross/0/plus/3"] = "b";
    const auto work = std::make_shared<RemoteRunJob>(std::move(request));
    workbench::JobContextWatcher watcher;
    workbench::JobService service(test::cpuBackends(), watcher);
    const workbench::JobHandle handle = service.submit(work);
    handle.wait();
    QVERIFY2(handle.state() == JobState::Finished, handle.problem().c_str());
    // Four that answer, two judges, and the judge of these.
    QCOMPARE(here.all().size(), std::size_t{6});
    QCOMPARE(there.all().size(), std::size_t{1});
    QVERIFY2(there.all().front().second.contains("Name D."), there.all().front().second.constData());
    // Events have the query as it was written out.
    std::vector<trace::Event> events;
    work->recorder()->drain(events);
    std::set<NodePath> origins;
    for (const trace::Event& event : events) {
      if (!std::holds_alternative<trace::RequestSent>(event.payload)) continue;
      const std::map<NodePath, NodePath> all = work->origins();
      QVERIFY2(all.contains(event.node), event.node.c_str());
      origins.insert(all.at(event.node));
    }
    QVERIFY(origins.contains("") && origins.contains("/g/input/cross/0/plus/3"));
  }

  /// A step that is sent as a chat has the inner answer alone in it, whatever form other steps are sent in.
  void protocolsBesideEachOther() {
    Bodies spans;
    Bodies chats;
    Server one(takingAll(spans, true));
    Server other(takingAll(chats, true));
    RemoteRunRequest request =
        requestOf(kSpans, {{.name = "spans", .url = one.address(), .protocol = "spnl"},
                           {.name = "chats", .url = other.address(), .protocol = "chat"}});
    request.settings.seed = 7;
    request.serverOf[""] = "chats";
    const Ran ran = carriedOut(std::move(request));
    QVERIFY2(ran.state == JobState::Finished, ran.problem.c_str());
    QCOMPARE(spans.all().size(), std::size_t{1});
    QVERIFY(spans.all().front().second.contains("Name a town."));
    QCOMPARE(chats.all().size(), std::size_t{1});
    const QByteArray body = chats.all().front().second;
    QVERIFY2(!body.contains("Name a town.") && body.contains("Lisbon") && body.contains("\"seed\""),
             body.constData());
    const std::vector<std::string> sent = ran.notes("Sent by ");
    QVERIFY((sent == std::vector<std::string>{"Sent by SPNL's query endpoint", "Sent by chat completions"}));
  }

  /// By default, a server gets the query in the first protocol that can carry it.
  void theFirstProtocolThatCarriesIt() {
    remote::ServerFacts facts;
    facts.protocols = {"spnl", "chat", "completions"};
    const auto nameFor = [&facts](const char* json) {
      return std::string(
          workbench::chosenProtocol({}, facts, *query::parseJson(json).query, "gpu-3").protocol->name);
    };
    QCOMPARE(nameFor(kSpans), std::string("spnl"));
    QCOMPARE(nameFor(kPlain), std::string("spnl"));
    // Where no protocol can carry it, the first says why not.
    QCOMPARE(nameFor(R"({"user":"Hi"})"), std::string("spnl"));
  }

  /// A server that refuses SPNL's endpoint is asked for messages, unless that protocol was chosen.
  void refusedQueriesGoOnAsMessages_data() {
    QTest::addColumn<QString>("protocol");
    QTest::addColumn<bool>("goesOn");
    QTest::newRow("by itself") << "" << true;
    QTest::newRow("chosen") << "spnl" << false;
  }
  void refusedQueriesGoOnAsMessages() {
    QFETCH(QString, protocol);
    QFETCH(bool, goesOn);
    Bodies bodies;
    Server server([answer = takingAll(bodies, true)](const QByteArray& request) -> QByteArray {
      const bool isQuery = request.startsWith("POST /v1/query/execute");
      return isQuery && !request.endsWith("\r\n\r\n") ? http(400, R"({"error":"no plus here"})")
                                                      : answer(request);
    });
    const Ran ran = carriedOut(
        requestOf(kSpans, {{.name = "gpu-3", .url = server.address(), .protocol = protocol.toStdString()}}));
    QCOMPARE(ran.state == JobState::Finished, goesOn);
    QCOMPARE(bodies.all().size(), std::size_t{goesOn ? 2U : 0U});
    if (!goesOn) return;
    for (const auto& [where, body] : bodies.all()) {
      QCOMPARE(where, QByteArray("/v1/chat/completions"));
      QVERIFY(!body.contains("plus"));
    }
    // The inner answer is in the outer prompt, and each step has one answer.
    QVERIFY(bodies.all().back().second.contains("Lisbon"));
    const auto& requests = ran.replay.progress().requests;
    QCOMPARE(requests.size(), std::size_t{2});
    for (const auto& [id, request] : requests) QCOMPARE(request.text, std::string("Lisbon"));
    const std::vector<std::string> warnings = ran.warnings("The server gpu-3 refuses");
    QCOMPARE(warnings.size(), std::size_t{1});
    QVERIFY2(warnings[0].find("no plus here") != std::string::npos, warnings[0].c_str());
    QCOMPARE(ran.warnings("A plus becomes").size(), std::size_t{1});
  }

  /// A model that the server does not list is sent only where the list of servers allows it.
  void unlistedModels() {
    for (const bool isUnlisted : {false, true}) {
      Bodies bodies;
      Server server(takingAll(bodies, true));
      workbench::NamedServer named{.name = "gpu-3", .url = server.address(), .model = "nope"};
      named.protocol = "chat";
      named.isUnlisted = isUnlisted;
      const Ran ran = carriedOut(requestOf(kPlain, {named}));
      QVERIFY2((ran.state == JobState::Finished) == isUnlisted, ran.problem.c_str());
      QCOMPARE(bodies.all().size(), isUnlisted ? std::size_t{1} : std::size_t{0});
      if (isUnlisted) QVERIFY(bodies.all().front().second.contains("\"nope\""));
    }
  }

  /// What a protocol cannot take is said before anything is sent.
  void whatAProtocolCannotTake() {
    Bodies bodies;
    Server server(takingAll(bodies, false));
    const Ran ran =
        carriedOut(requestOf(kPlain, {{.name = "gpu-3", .url = server.address(), .protocol = "chat"}}));
    QVERIFY(ran.state == JobState::Failed);
    QVERIFY2(QString::fromStdString(ran.problem).contains(QStringLiteral("no chat completions")),
             ran.problem.c_str());
    QVERIFY2(QString::fromStdString(ran.problem).contains(QStringLiteral("SPNL's query endpoint")),
             ran.problem.c_str());
    QVERIFY(bodies.all().empty());
    const Ran empty = carriedOut(requestOf(R"({"g":{"model":"tiny","max_tokens":4,"input":{"plus":[]}}})",
                                           {{.name = "gpu-3", .url = server.address(), .protocol = "spnl"}}));
    QVERIFY(empty.state == JobState::Failed);
    QVERIFY2(QString::fromStdString(empty.problem).contains(QStringLiteral("SPNL's query endpoint cannot")),
             empty.problem.c_str());
    QVERIFY(bodies.all().empty());
  }

  void whatCannotRunSaysWhy_data() {
    QTest::addColumn<QString>("server");
    QTest::addColumn<QString>("said");
    QTest::newRow("unknown") << "gpu-9" << worded("<no-server-name-remote-run-work>gpu-9\"");
    QTest::newRow("embedded, which is not there") << ""
                                                  << "embedded engine";
    QTest::newRow("without its key") << "locked"
                                     << "variable SPANSCOPE_TEST_NO_KEY";
  }
  void whatCannotRunSaysWhy() {
    QFETCH(QString, server);
    QFETCH(QString, said);
    workbench::NamedServer locked{.name = "locked", .url = "http://127.0.0.1:1"};
    locked.key = workbench::KeyPlace::Environment;
    locked.keyVariable = "SPANSCOPE_TEST_NO_KEY";
    RemoteRunRequest request = requestOf(kPlain, {locked});
    request.settings.server = server.toStdString();
    const Ran ran = carriedOut(std::move(request));
    QVERIFY(ran.state == JobState::Failed);
    QVERIFY2(QString::fromStdString(ran.problem).contains(said), ran.problem.c_str());
    QVERIFY(ran.events.empty());
  }
};

SPANSCOPE_TEST(tst_remote_run_work, TestRemoteRunWork)
#include "tst_remote_run_work.moc"
