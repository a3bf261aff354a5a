// SPDX-License-Identifier: GPL-3.0-or-later
// A run on servers as events: the same story as that of a run here, and nothing that the server did not say.
#include "engine/base/error.h"
#include "engine/metrics/metric_table.h"
#include "engine/metrics/run_facts.h"
#include "engine/metrics/trace_stats.h"
#include "engine/query/json/json.h"
#include "engine/remote/chat/remote_trace.h"
#include "engine/trace/recorder.h"
#include "engine/trace/replay.h"
#include "engine/trace/report.h"
#include "engine/trace/trace_file.h"
#include "tests/engine/remote/stand_in_server.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <string>
#include <variant>
#include <vector>

using namespace spanscope;
using remote::ServerKind;
using remote::test::Server;
using spanscope::product_text::says;
using trace::CachedState;

namespace {

QByteArray streamedEvents(const QByteArray& events) {
  return "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + events;
}

QByteArray piece(const QByteArray& text) {
  return R"(data: {"model":"org/m","choices":[{"index":0,"delta":{"content":")" + text + R"("}}]})" + "\n\n";
}

QByteArray ending(const char* finish, const QByteArray& usage) {
  return R"(data: {"choices":[{"index":0,"delta":{},"finish_reason":")" + QByteArray(finish) + R"("}]})" +
         "\n\ndata: {\"choices\":[]" + (usage.isEmpty() ? "" : ",\"usage\":" + usage) +
         "}\n\ndata: [DONE]\n\n";
}

const char* const kTwoSteps = R"({"g":{"model":"org/m","max_tokens":12,"input":{"cross":[)"
                              R"({"g":{"model":"org/m","max_tokens":7,"input":{"user":"Name a town."}}},)"
                              R"({"user":"Is it large?"}]}}})";
const char* const kTwoCopies =
    R"({"repeat":{"n":2,"g":{"model":"org/m","max_tokens":7,"input":{"user":"Name a town."}}}})";

/// A traced run of a query on one server.
struct Traced {
  std::vector<trace::Event> events;
  remote::RemoteResult result;
  trace::Replay replay;

  const trace::RequestState& request(RequestId id) const { return replay.progress().requests.at(id); }
  const trace::RunState& run() const { return replay.progress().runs.at(7); }
  template <class T>
  std::vector<T> all() const {
    std::vector<T> found;
    for (const trace::Event& event : events) {
      if (const auto* payload = std::get_if<T>(&event.payload)) found.push_back(*payload);
    }
    return found;
  }
};

Traced tracedRun(const std::string& address, const char* json, ServerKind kind = ServerKind::LlamaCpp) {
  using namespace std::chrono_literals;
  Traced traced;
  trace::Recorder recorder({.keepEvents = true, .clock = {}});
  const auto requests = exports::chatRequests(*query::parseJson(json).query).requests;
  remote::RemoteServer at{.url = address, .model = {}};
  at.access.key = "secret-of-a-person";
  at.access.limits = {.connect = 2s, .firstByte = 300ms, .silence = 200ms};
  const std::vector<remote::RemoteTarget> targets{
      {.name = "gpu-3",
       .server = at,
       .facts = {.kind = kind, .version = "1.2", .models = {{"org/m", {}}}, .slots = {}}}};
  const std::vector<std::size_t> targetOf;
  remote::RemoteTrace writer(recorder,
                             {.program = "test 1",
                              .queryJson = json,
                              .explain = "how",
                              .seed = 5,
                              .run = 7,
                              .lastRequest = 10,
                              .retrieved = {},
                              .warnings = {"it knows no spans"}},
                             targets, targetOf, requests);
  remote::HttpClient client;
  writer.begin();
  traced.result = remote::runRemotely(client, targets, targetOf, requests, writer);
  writer.end(traced.result);
  traced.events = recorder.events();
  for (const trace::Event& event : traced.events) {
    const std::optional<Error> error = traced.replay.apply(event);
    if (error) qFatal("%s", error->message().c_str());
  }
  return traced;
}

Traced tracedRun(Server& server, const char* json, ServerKind kind = ServerKind::LlamaCpp) {
  return tracedRun(server.address(), json, kind);
}

}  // namespace

class TestRemoteTrace : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tellsTheSameStoryAsARunHere() {
    int asked = 0;
    Server server([&](const QByteArray&) {
      return streamedEvents(
          ++asked == 1
              ? R"(data: {"choices":[],"prompt_progress":{"total":9,"cache":4,"processed":6,"time_ms":3}})"
                "\n\n" +
                    piece("Lis") + piece("bon") +
                    ending("stop", R"({"prompt_tokens":9,"completion_tokens":3,)"
                                   R"("prompt_tokens_details":{"cached_tokens":4}})")
              : piece("Yes") + ending("length", R"({"prompt_tokens":12,"completion_tokens":12,)"
                                                R"("prompt_tokens_details":{"cached_tokens":0}})"));
    });
    const Traced traced = tracedRun(server, kTwoSteps);
    QVERIFY(!traced.result.error);
    const trace::Progress& progress = traced.replay.progress();
    QCOMPARE(progress.backend, std::string("llama.cpp on gpu-3"));
    QCOMPARE(progress.model, std::string("org/m"));
    QCOMPARE(traced.run().policy, std::string("llama.cpp on gpu-3"));
    QCOMPARE(traced.run().seed, std::uint64_t{5});
    QCOMPARE(traced.run().answer, std::string("Yes"));
    QVERIFY(traced.run().outcome == trace::RunOutcome::Finished);
    QVERIFY((traced.run().requests == std::vector<RequestId>{11, 12}));
    QCOMPARE(traced.run().plan->steps.size(), std::size_t{2});
    QVERIFY((traced.run().plan->steps[1].needs == std::vector<StepIndex>{0}));

    const trace::RequestState& first = traced.request(11);
    QCOMPARE(first.text, std::string("Lisbon"));
    QCOMPARE(first.node, traced.run().plan->steps[0].node);
    QCOMPARE(first.promptTokens, std::int64_t{9});
    QCOMPARE(first.cachedTokens, std::int64_t{4});
    QCOMPARE(first.generatedTokens, std::int64_t{3});
    QVERIFY(first.outcome == trace::StepOutcome::EndToken);
    QVERIFY(first.metrics && first.metrics->computedTokens == 5 && first.metrics->timeToFirstToken > 0);
    QVERIFY(first.firstTokenAt > 0 && first.lastTokenAt >= first.firstTokenAt);
    QVERIFY(first.reported && first.reported->cached == CachedState::Found);
    const trace::RequestState& second = traced.request(12);
    QVERIFY(second.outcome == trace::StepOutcome::TokenLimit);
    QVERIFY(second.reported && second.reported->cached == CachedState::MeasuredZero);
    QVERIFY(second.metrics && second.metrics->cachedTokens == 0);

    QCOMPARE(traced.all<trace::ServerChosen>().size(), std::size_t{1});
    const trace::ServerChosen chosen = traced.all<trace::ServerChosen>().front();
    QVERIFY(chosen.name == "gpu-3" && chosen.title == "llama.cpp" && chosen.version == "1.2");
    QVERIFY(chosen.reportsCached && chosen.reportsProgress);
    const auto progressed = traced.all<trace::PromptReported>();
    QVERIFY(progressed.size() == 1 && progressed[0].processed == 6 && progressed[0].total == 9);
    QCOMPARE(traced.all<trace::RequestSent>().size(), std::size_t{2});
    QVERIFY((traced.all<trace::TextReceived>()[1] == trace::TextReceived{"bon"}));
    QCOMPARE(progress.warnings, std::uint64_t{1});
  }

  void copiesAreCounted() {
    Server server(streamedEvents(piece("x") + ending("stop", "")));
    const Traced traced = tracedRun(server, kTwoCopies);
    QCOMPARE(traced.request(11).copy, 0U);
    QCOMPARE(traced.request(12).copy, 1U);
    QCOMPARE(traced.request(11).node, traced.request(12).node);
    QCOMPARE(traced.run().answer, std::string("x\nx"));
  }

  /// What a server does not say stays unknown in every sum.
  void whatIsNotSaidIsNotZero_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<QByteArray>("usage");
    QTest::addColumn<int>("state");
    const auto row = [](const char* name, ServerKind kind, const char* usage, CachedState state) {
      QTest::newRow(name) << static_cast<int>(kind) << QByteArray(usage) << static_cast<int>(state);
    };
    row("not reported", ServerKind::Vllm, R"({"prompt_tokens":9,"completion_tokens":3})",
        CachedState::NotReported);
    row("cannot be reported", ServerKind::LmStudio, R"({"prompt_tokens":9,"completion_tokens":3})",
        CachedState::CannotReport);
    row("more than there are", ServerKind::Vllm,
        R"({"prompt_tokens":9,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":10}})",
        CachedState::NotReported);
  }
  void whatIsNotSaidIsNotZero() {
    QFETCH(int, kind);
    QFETCH(QByteArray, usage);
    QFETCH(int, state);
    Server server(streamedEvents(piece("Lisbon") + ending("stop", usage)));
    const Traced traced = tracedRun(server, kTwoCopies, static_cast<ServerKind>(kind));
    const trace::RequestState& request = traced.request(11);
    QVERIFY(request.reported && static_cast<int>(request.reported->cached) == state);
    QVERIFY(!request.metrics);
    QCOMPARE(request.promptTokens, std::int64_t{9});
    QCOMPARE(request.generatedTokens, std::int64_t{3});

    metrics::RunFactsCollector collector;
    for (const trace::Event& event : traced.events) QVERIFY(!collector.take(event));
    const auto facts = collector.of(7);
    QVERIFY(facts && facts->isRemote && !facts->isAccounted);
    for (const char* const name : {"cached tokens", "hit rate", "computed tokens", "prompt tokens", "blocks",
                                   "passes", "block size", "stored blocks"}) {
      const metrics::Metric* metric = metrics::find(name);
      QVERIFY2(metric != nullptr && !metric->of(*facts), name);
    }
    QVERIFY(metrics::find("time to first token")->of(*facts).has_value());
    QCOMPARE(std::get<double>(*metrics::find("generated tokens")->of(*facts)), 6.0);

    const metrics::TraceStats sums = metrics::stats(traced.events);
    QCOMPARE(sums.promptTokens, std::int64_t{0});
    QCOMPARE(sums.unaccountedRequests, std::uint64_t{2});
    QCOMPARE(sums.unaccountedTokens, std::int64_t{18});
    QCOMPARE(sums.generatedTokens, std::int64_t{6});
    QVERIFY(sums.timeToFirstToken > 0);
    QVERIFY(says(metrics::statsTable(sums), "<not-known-found>"));
  }

  void aBreakKeepsWhatCame() {
    Server server(streamedEvents(piece("Lis")));
    const Traced traced = tracedRun(server, kTwoSteps);
    QVERIFY(traced.result.error);
    QVERIFY(traced.run().outcome == trace::RunOutcome::Failed);
    QCOMPARE(traced.run().requests.size(), std::size_t{1});
    const trace::RequestState& request = traced.request(11);
    QVERIFY(request.outcome == trace::StepOutcome::Failed);
    QCOMPARE(request.text, std::string("Lis"));
    QVERIFY(request.reported && !request.reported->brokenBy.empty() && !request.metrics);
    const auto messages = traced.all<trace::MessageLogged>();
    QVERIFY(messages.back().severity == Severity::Error);
    QVERIFY(says(messages.back().text, "<stream-ended-before>"));
  }

  /// A step that fails is shown as such before its siblings end.
  void aFailureIsShownAtOnce() {
    const char* const kPair = R"({"plus":[{"g":{"model":"org/m","input":{"user":"One"}}},)"
                              R"({"g":{"model":"org/m","input":{"user":"Two"}}}]})";
    std::atomic<bool> isRefused = false;
    remote::test::ServerOfMany server([&](const QByteArray& request) -> QByteArray {
      if (request.contains("Two")) {
        isRefused = true;
        return remote::test::http(400, R"({"error":"no"})");
      }
      QTest::qWait(300);
      return streamedEvents(piece("x") + ending("stop", ""));
    });
    const Traced traced = tracedRun(server.address(), kPair);
    QVERIFY(isRefused && traced.result.error);
    const auto at = [&](auto wanted) {
      return std::find_if(traced.events.begin(), traced.events.end(), wanted) - traced.events.begin();
    };
    const auto endOf = [&](RequestId request) {
      return at([request](const trace::Event& event) {
        return event.request == request && std::holds_alternative<trace::StepFinished>(event.payload);
      });
    };
    QVERIFY(endOf(12) < endOf(11));
    QVERIFY(at([](const trace::Event& event) {
              const auto* message = std::get_if<trace::MessageLogged>(&event.payload);
              return event.request == 12 && message != nullptr && message->severity == Severity::Error;
            }) < endOf(12));
    QVERIFY(traced.request(12).outcome == trace::StepOutcome::Failed);
    QVERIFY(traced.request(11).outcome == trace::StepOutcome::EndToken);
  }

  void filesHoldTheRunAndNoKey() {
    Server server(streamedEvents(piece("Lisbon") + ending("stop", R"({"prompt_tokens":9})")));
    const Traced traced = tracedRun(server, kTwoCopies);
    QVERIFY(server.request().contains("secret-of-a-person"));
    const std::vector<std::uint8_t> bytes = trace::traceBytes(traced.events);
    const trace::TraceFile file = trace::readTrace(bytes, "there.trace");
    QVERIFY(file.events == traced.events && file.warnings.empty());
    for (const trace::Event& event : file.events) {
      QVERIFY(trace::describe(event).find("secret-of") == std::string::npos);
    }
  }
};

SPANSCOPE_TEST(tst_remote_trace, TestRemoteTrace)
#include "tst_remote_trace.moc"
