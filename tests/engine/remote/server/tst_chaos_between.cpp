// SPDX-License-Identifier: GPL-3.0-or-later
// Every client of ours asks our server through a line that spoils what it carries: it gets a whole answer or
// an error that says where, and neither side keeps anything of it.
#include "engine/base/error.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/completions/completions_protocol.h"
#include "engine/remote/server/server.h"
#include "tests/engine/remote/server/meddler.h"
#include "tests/engine/remote/server/stand_in_engine.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace spanscope;
using namespace spanscope::server;
using namespace spanscope::server::test;
using std::chrono::milliseconds;

namespace {

const std::string kReply = "Mira lives in Lisbon, and the harbour is loud at night.";

struct Between {
  Between() : server(config(), engine), meddler(startedAt(server)) { engine.reply = kReply; }

  static ServerConfig config() {
    ServerConfig config;
    config.port = 0;
    config.names = {"*"};
    config.limits.toRead = milliseconds(5000);
    config.limits.toStall = milliseconds(5000);
    config.limits.requests = 400;
    config.limits.clients = 400;
    config.limits.bodyBytes = 200'000;
    return config;
  }
  static int startedAt(Server& server) {
    server.start();
    return server.port();
  }

  StandInEngine engine;
  Server server;
  Meddler meddler;
};

/// How long a client waits: what is to come whole gets as long as a busy machine takes; what does not come is
/// not waited for.
remote::HttpLimits limitsFor(Fault fault) {
  const bool isPatient = fault == Fault::None || fault == Fault::Trickle;
  return {.connect = milliseconds(isPatient ? 10'000 : 300),
          .firstByte = milliseconds(isPatient ? 10'000 : 500),
          .silence = milliseconds(isPatient ? 10'000 : 300),
          .whole = milliseconds(isPatient ? 30'000 : 5000),
          .bytes = std::size_t{1} << 20U};
}

remote::RemoteResult askThrough(const Meddler& meddler, const std::string& protocol,
                                Fault fault = Fault::None) {
  const auto parsed = query::parseJson(
      R"({"g":{"model":"m","max_tokens":200,"input":{"cross":[{"plus":[{"user":"a"},{"user":"b"}]},)"
      R"({"user":"Where does Mira live?"}]}}})");
  remote::RemoteTarget target{
      .name = "here",
      .server = {.url = meddler.url(), .model = "m", .access = {.limits = limitsFor(fault)}},
      .facts = {.kind = remote::ServerKind::Spanscope, .version = {}, .models = {{"m", {}}}, .slots = {}}};
  target.protocol = remote::findProtocol(protocol);
  if (target.protocol->needsPrompt) target.prompt = remote::textPrompt(text::chatTemplateNamed("chatml"));
  remote::HttpClient client;
  remote::RemoteWatcher watcher;
  if (!target.protocol->takesCalls)
    return remote::runRemotely(client, {target}, {}, exports::chatRequests(*parsed.query).requests, watcher);
  const exports::QueryCalls made = exports::queryCalls(*parsed.query);
  return remote::runRemotely(client, {target}, {}, made.requests, watcher, {}, made.calls);
}

bool isWhole(const remote::RemoteResult& result) {
  return !result.error && result.steps.size() == 1 && result.steps[0].brokenBy.empty();
}

/// The fault in what a client received; empty: none.
std::string complaint(const remote::RemoteResult& result, const Meddling& meddling) {
  // A changed byte may well be in the text.
  const bool isLegible = meddling.fault != Fault::Flip && meddling.fault != Fault::Drop &&
                         meddling.fault != Fault::Repeat && meddling.fault != Fault::Endless;
  if (isWhole(result)) {
    const std::string& text = result.steps[0].answer.text;
    return isLegible && text != kReply ? "a whole answer that is \"" + text + "\"" : "";
  }
  if (!result.error) return "neither an answer nor an error";
  const std::string said = Failure(*result.error).what();
  if (said.find("127.0.0.1") == std::string::npos) return "an error that does not say where: " + said;
  for (const remote::RemoteStep& step : result.steps) {
    if (isLegible && !kReply.starts_with(step.answer.text)) return "kept \"" + step.answer.text + "\"";
  }
  return "";
}

std::size_t openFiles() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

constexpr std::array kProtocols{"chat", "completions", "spnl"};

}  // namespace

Q_DECLARE_METATYPE(spanscope::server::test::Meddling)

class TestChaosBetween : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aFault_data() {
    QTest::addColumn<QString>("protocol");
    QTest::addColumn<Meddling>("meddling");
    QTest::addColumn<bool>("whole");
    for (const char* protocol : kProtocols) {
      const auto row = [protocol](const char* name, const Meddling& meddling, bool whole = false) {
        QTest::addRow("%s: %s", protocol, name) << QString(protocol) << meddling << whole;
      };
      row("none", {}, true);
      row("the request trickles", {.fault = Fault::Trickle, .ofAnswer = false}, true);
      row("the answer trickles", {.fault = Fault::Trickle}, true);
      row("no answer", {.fault = Fault::Cut});
      row("cut in the head", {.fault = Fault::Cut, .at = 40});
      row("cut in the answer", {.fault = Fault::Cut, .at = 700});
      row("cut in the request", {.fault = Fault::Cut, .ofAnswer = false, .at = 90});
      row("silence", {.fault = Fault::Stall});
      row("a stall in the head", {.fault = Fault::Stall, .at = 40});
      row("a stall in the answer", {.fault = Fault::Stall, .at = 700});
      row("a stall in the request", {.fault = Fault::Stall, .ofAnswer = false, .at = 90});
      row("another status line", {.fault = Fault::Flip, .at = 0, .count = 5});
      row("an endless head", {.fault = Fault::Endless, .at = 20});
      row("a request without an end", {.fault = Fault::Endless, .ofAnswer = false, .at = 20});
    }
  }
  void aFault() {
    QFETCH(QString, protocol);
    QFETCH(Meddling, meddling);
    QFETCH(bool, whole);
    Between between;
    between.meddler.set(meddling);
    const remote::RemoteResult result = askThrough(between.meddler, protocol.toStdString(), meddling.fault);
    const std::string wrong = complaint(result, meddling);
    QVERIFY2(wrong.empty(), wrong.c_str());
    QCOMPARE(isWhole(result), whole);
    QTRY_COMPARE(between.engine.going(), 0);
    between.meddler.set({});
    QVERIFY(isWhole(askThrough(between.meddler, protocol.toStdString())));
  }

  /// Any fault anywhere, many clients at once. SPANSCOPE_CHAOS: the number of requests.
  void faultsAtRandom() {
    const int asked = qEnvironmentVariableIntValue("SPANSCOPE_CHAOS");
    const int requests = asked > 0 ? asked : 300;
    const int clients = asked > 0 ? 100 : 20;
    constexpr std::uint32_t kSeed = 20261126;
    const std::size_t open = openFiles();
    std::atomic<int> whole = 0;
    std::vector<std::string> complaints(static_cast<std::size_t>(clients));
    {
      Between between;
      std::vector<std::jthread> threads;
      for (int c = 0; c < clients; ++c) {
        threads.emplace_back([&, c] {
          std::mt19937 random(kSeed + static_cast<std::uint32_t>(c));
          for (int i = c; i < requests; i += clients) {
            Meddling meddling{.fault = static_cast<Fault>(random() % 8),
                              .ofAnswer = random() % 4 != 0,
                              .at = random() % 3000,
                              .count = 1 + random() % 30};
            // To wait for what stalls takes longest, and says the same each time.
            if (meddling.fault == Fault::Stall && random() % 4 != 0) meddling.fault = Fault::Cut;
            const char* const protocol = kProtocols[random() % kProtocols.size()];
            const std::string wrong = complaint(askAlone(between, protocol, meddling, whole), meddling);
            if (wrong.empty()) continue;
            complaints[static_cast<std::size_t>(c)] = "seed " + std::to_string(kSeed) + ", client " +
                                                      std::to_string(c) + ", request " + std::to_string(i) +
                                                      ", " + protocol + ": " + wrong;
            return;
          }
        });
      }
      threads.clear();
      for (const std::string& complaint : complaints) QVERIFY2(complaint.empty(), complaint.c_str());
      QTRY_COMPARE(between.engine.going(), 0);
      QVERIFY(isWhole(askThrough(between.meddler, "chat")));
    }
    QVERIFY2(whole > requests / 5, qPrintable(QString::number(whole)));
    QCOMPARE(openFiles(), open);
  }

 private:
  /// On a line of its own.
  static remote::RemoteResult askAlone(const Between& between, const std::string& protocol,
                                       const Meddling& meddling, std::atomic<int>& whole) {
    Meddler meddler(between.server.port());
    meddler.set(meddling);
    const remote::RemoteResult result = askThrough(meddler, protocol, meddling.fault);
    if (isWhole(result)) ++whole;
    return result;
  }
};

SPANSCOPE_TEST(tst_chaos_between, TestChaosBetween)
#include "tst_chaos_between.moc"
