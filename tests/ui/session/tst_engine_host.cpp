// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/run/finished_reply.h"
#include "engine/run/session.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/service/work.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/session/benchmarker.h"
#include "ui/session/engine_host.h"
#include "ui/session/trace_store.h"

#include <QCoreApplication>
#include <QFile>
#include <QIODevice>
#include <QObject>
#include <QSignalSpy>
#include <QString>
#include <QStringList>
#include <QStringLiteral>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

constexpr int kPatience = 60'000;  // milliseconds, for slow and instrumented machines

RunRequest requestFor(const QString& example, document::RunSettings settings = {}) {
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/") + example);
  if (!file.open(QIODevice::ReadOnly)) return {};
  const std::string json = file.readAll().toStdString();
  workbench::PipelineResult planned = workbench::runPipeline({.source = std::string_view(json)});
  RunRequest request;
  request.settings = std::move(settings);
  request.queryJson = query::writeCanonical(*planned.queryAfter(workbench::Stage::Plan));
  request.explain = plan::explain(*planned.plan);
  request.plan = std::move(*planned.plan);
  return request;
}

/// Runs to the end and gives the events since the last call.
std::vector<trace::Event> runToEnd(EngineHost& host, RunRequest request, QString* error = nullptr) {
  QSignalSpy ended(&host, &EngineHost::runEnded);
  if (!host.run(std::move(request)) || !ended.wait(kPatience)) return {};
  if (error != nullptr) *error = ended.front().front().toString();
  std::vector<trace::Event> events;
  host.drain(events);
  return events;
}

BenchmarkRequest benchmarkOf(const QString& example, std::int32_t repeats,
                             document::RunSettings settings = {}) {
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/") + example);
  if (!file.open(QIODevice::ReadOnly)) return {};
  const query::ParseResult parsed = query::parseJson(file.readAll().toStdString());
  BenchmarkRequest request;
  request.repeats = repeats;
  request.settings = std::move(settings);
  request.query = parsed.query.value_or(query::Node{});
  return request;
}

/// The benchmark as it is at its end, or null. `changed` is called whenever it has.
std::shared_ptr<const Benchmark> measure(EngineHost& host, BenchmarkRequest request,
                                         const std::function<void(const Benchmark&)>& changed = {}) {
  std::shared_ptr<const Benchmark> newest;
  QObject guard;
  QObject::connect(&host, &EngineHost::benchmarkChanged, &guard,
                   [&](const std::shared_ptr<const Benchmark>& now) {
                     newest = now;
                     if (changed) changed(*now);
                   });
  const auto hasEnded = [&] { return newest && newest->state != BenchmarkState::Running; };
  if (!host.benchmark(std::move(request)) || !QTest::qWaitFor(hasEnded, kPatience)) return nullptr;
  return newest;
}

template <class T>
const T* lastOf(const std::vector<trace::Event>& events) {
  const T* last = nullptr;
  for (const trace::Event& event : events) {
    if (const T* payload = std::get_if<T>(&event.payload)) last = payload;
  }
  return last;
}

}  // namespace

class TestEngineHost : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// The window names the kind of device that a model is on, and knows what others there are.
  void saysWhatItComputesOn() {
    compute::BackendKind other = test::cpuBackends().kinds().front();
    other.name = "cuda";
    const std::vector<std::pair<compute::Backends, QString>> cases = {
        {test::cpuBackends(), QStringLiteral("CPU")}, {compute::Backends({other}), QStringLiteral("CUDA")}};
    for (const auto& [backends, kind] : cases) {
      EngineHost host(backends);
      QSignalSpy loaded(&host, &EngineHost::modelChanged);
      QSignalSpy found(&host, &EngineHost::devicesFound);
      QVERIFY(host.devices() == nullptr);
      host.prepare({});
      host.findDevices();
      QTRY_VERIFY_WITH_TIMEOUT(loaded.count() > 0 && found.count() == 1, kPatience);
      QCOMPARE(host.model().deviceKind, kind);
      QVERIFY(!host.devices()->empty());
      QVERIFY(host.devices()->front().isUsable());
    }
  }

  void keepsItsCacheFromRunToRun() {
    EngineHost host{test::cpuBackends()};
    QSignalSpy sessions(&host, &EngineHost::sessionStarted);
    const auto first = runToEnd(host, requestFor(QStringLiteral("rag.json")));
    const auto second = runToEnd(host, requestFor(QStringLiteral("rag-swapped.json")));
    QCOMPARE(sessions.size(), 1);
    const auto* cold = lastOf<trace::StepMetrics>(first);
    const auto* warm = lastOf<trace::StepMetrics>(second);
    QVERIFY(cold != nullptr && warm != nullptr);
    QCOMPARE(cold->cachedTokens, std::int64_t(0));
    QVERIFY(warm->relocatedTokens > 0);
    QCOMPARE(warm->promptTokens, cold->promptTokens);
    QCOMPARE(warm->cachedTokens + warm->computedTokens, warm->promptTokens);
    QCOMPARE(lastOf<trace::RunFinished>(second)->answer, lastOf<trace::RunFinished>(first)->answer);
    QVERIFY(second.front().sequence == first.back().sequence + 1);

    host.clearCache();
    const auto third = runToEnd(host, requestFor(QStringLiteral("rag.json")));
    QVERIFY(lastOf<trace::CacheCleared>(third) != nullptr);
    QCOMPARE(lastOf<trace::StepMetrics>(third)->cachedTokens, std::int64_t(0));
  }

  void benchmarksLeaveTheSessionAlone() {
    EngineHost host{test::cpuBackends()};
    QSignalSpy sessions(&host, &EngineHost::sessionStarted);
    runToEnd(host, requestFor(QStringLiteral("rag.json")));
    int turns = 0;
    bool isRefused = false;
    QStringList activities;
    const auto benchmark =
        measure(host, benchmarkOf(QStringLiteral("rag.json"), 2), [&](const Benchmark& now) {
          turns = std::max(turns, now.turn);
          if (now.state != BenchmarkState::Running) return;
          isRefused |= !host.run(requestFor(QStringLiteral("rag.json")));
          activities += host.activity();
        });
    QVERIFY(benchmark != nullptr);
    QCOMPARE(benchmark->problem, QString());
    QCOMPARE(benchmark->state, BenchmarkState::Finished);
    QCOMPARE(benchmark->turns.size(), std::size_t(2));
    QCOMPARE(benchmark->model, QStringLiteral("spanlet"));
    QCOMPARE(benchmark->blockCount, document::RunSettings().blockCount);
    QCOMPARE(benchmark->gaps.size(), experiment::kRunCases.size());
    QVERIFY(turns == 2 && isRefused);
    QVERIFY(activities.contains(QStringLiteral("Benchmark: turn 2 of 2, order swapped")));
    QCOMPARE(host.state(), EngineState::Idle);
    QCOMPARE(host.activity(), QString());
    // No event of it reaches the trace, and the cache is as the run before left it.
    std::vector<trace::Event> events;
    host.drain(events);
    QVERIFY(events.empty());
    const auto again = runToEnd(host, requestFor(QStringLiteral("rag.json")));
    QCOMPARE(sessions.size(), 1);
    QCOMPARE(lastOf<trace::StepMetrics>(again)->computedTokens, std::int64_t(1));
  }

  void benchmarksAreStoppedAndFail() {
    EngineHost host{test::cpuBackends()};
    const auto stopped =
        measure(host, benchmarkOf(QStringLiteral("rag.json"), kMostRepeats), [&host](const Benchmark& now) {
          if (now.turns.size() == 1) host.stop();
        });
    QVERIFY(stopped != nullptr);
    QCOMPARE(stopped->state, BenchmarkState::Stopped);
    QVERIFY(!stopped->turns.empty());
    QVERIFY(stopped->turns.size() < std::size_t(kMostRepeats));

    document::RunSettings small;
    small.blockCount = 4;
    const auto failed = measure(host, benchmarkOf(QStringLiteral("rag.json"), 1, small));
    QVERIFY(failed != nullptr);
    QCOMPARE(failed->state, BenchmarkState::Failed);
    QVERIFY(!failed->problem.isEmpty());
    document::RunSettings nowhere;
    nowhere.model = "/nowhere";
    const auto missing = measure(host, benchmarkOf(QStringLiteral("rag.json"), 1, nowhere));
    QVERIFY(missing != nullptr);
    QCOMPARE(missing->state, BenchmarkState::Failed);
    QVERIFY(missing->problem.contains(QStringLiteral("/nowhere")));
    QCOMPARE(host.state(), EngineState::Idle);
    // What was wrong with one is not with the next.
    QCOMPARE(measure(host, benchmarkOf(QStringLiteral("chat.json"), 1))->state, BenchmarkState::Finished);
  }

  void lengthsThatFitAreMeasured() {
    const std::vector<std::int32_t> few = measurableLengths(500);
    QVERIFY((few == std::vector<std::int32_t>{64, 128}));
    QCOMPARE(measurableLengths(1'000'000).back(), 4096);
    EngineHost host{test::cpuBackends()};
    BenchmarkRequest request;
    request.kind = BenchmarkKind::Lengths;
    request.repeats = 1;
    const auto stopped = measure(host, std::move(request), [&host](const Benchmark& now) {
      if (now.measuredLengths() == 2) host.stop();
    });
    QVERIFY(stopped != nullptr);
    QCOMPARE(stopped->state, BenchmarkState::Stopped);
    QVERIFY(stopped->measuredLengths() >= 2);
    const experiment::AbbaRow& row = *stopped->lengths.front().row;
    QCOMPARE(row.documentTokens, 64);
    QCOMPARE(row.cold.cachedTokens, std::int64_t(0));
    QCOMPARE(row.swapped.cachedTokens, row.expectedCachedTokens);
  }

  void otherCacheSettingsBeginANewSession() {
    EngineHost host{test::cpuBackends()};
    QSignalSpy sessions(&host, &EngineHost::sessionStarted);
    runToEnd(host, requestFor(QStringLiteral("chat.json")));
    document::RunSettings settings;
    settings.blockSize = 4;
    settings.observe = false;
    const auto events = runToEnd(host, requestFor(QStringLiteral("chat.json"), settings));
    QCOMPARE(sessions.size(), 2);
    const auto* started = std::get_if<trace::SessionStarted>(&events.front().payload);
    QVERIFY(started != nullptr);
    QCOMPARE(started->pool.blockSize, 4);
    QVERIFY(lastOf<trace::AttentionMass>(events) == nullptr);
  }

  void recordsAttentionWhereAsked() {
    EngineHost host{test::cpuBackends()};
    document::RunSettings settings;
    settings.layers = {1, 99};  // layers the model does not have are left out
    settings.attention = "heads";
    const auto events = runToEnd(host, requestFor(QStringLiteral("chat.json"), settings));
    int masses = 0;
    for (const trace::Event& event : events) {
      const auto* mass = std::get_if<trace::AttentionMass>(&event.payload);
      if (mass == nullptr) continue;
      QCOMPARE(mass->layer, 1);
      ++masses;
    }
    QVERIFY(masses > 0);
  }

  void replaysAnAnswerOnRequest() {
    EngineHost host{test::cpuBackends()};
    QSignalSpy replayed(&host, &EngineHost::attentionReplayed);
    run::AttentionReplayRequest request;
    QVERIFY(host.replayAttention(request));
    QVERIFY(!host.replayAttention(request));
    QVERIFY(replayed.wait(kPatience));
    QCOMPARE(replayed.back().front().toString(),
             QStringLiteral("The session that gave this answer has ended."));
    QCOMPARE(host.state(), EngineState::Idle);

    const auto events = runToEnd(host, requestFor(QStringLiteral("rag.json")));
    QVERIFY(lastOf<trace::SegmentAttention>(events) != nullptr);
    QCOMPARE(lastOf<trace::AttentionMass>(events)->layer, -1);
    for (const trace::Event& event : events) {
      if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload)) {
        request.reply.run = event.run;
        request.reply.request = event.request;
        request.reply.node = event.node;
        request.reply.segments = table->segments;
      }
      if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload))
        request.reply.tokens.push_back(token->token);
    }
    request.layer = 4;
    QVERIFY(host.replayAttention(request));
    QVERIFY(replayed.wait(kPatience));
    QCOMPARE(replayed.back().front().toString(), QString());
    std::vector<trace::Event> finer;
    host.drain(finer);
    QCOMPARE(lastOf<trace::AttentionReplayed>(finer)->layer, 4);
    QCOMPARE(lastOf<trace::ReplayedMass>(finer)->index,
             static_cast<std::int32_t>(request.reply.tokens.size()) - 1);

    request.layer = 40;
    QVERIFY(host.replayAttention(request));
    QVERIFY(replayed.wait(kPatience));
    QCOMPARE(replayed.back().front().toString(), QStringLiteral("layer: found 40, expected 0 to 5"));
  }

  /// While the model is loaded for a run, that run is in progress: it is the only one, and can be stopped.
  void loadingForARunIsPartOfIt() {
    EngineHost host{test::cpuBackends()};
    QSignalSpy ended(&host, &EngineHost::runEnded);
    int loads = 0;
    EngineState before = EngineState::Idle;
    QList<bool> taken;
    connect(&host, &EngineHost::stateChanged, &host, [&] {
      // It is said of every activity, too.
      if (std::exchange(before, host.state()) == host.state() || host.state() != EngineState::Loading) return;
      if (loads++ == 0) taken += host.run(requestFor(QStringLiteral("rag.json")));
      taken += host.isBusy();
    });
    QVERIFY(!host.isBusy());
    QVERIFY(host.run(requestFor(QStringLiteral("rag.json"))));
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(loads, 1);
    QCOMPARE(taken, (QList<bool>{false, true}));
    QVERIFY(!host.isBusy());
    QTest::qWait(100);
    QCOMPARE(ended.size(), 1);
    // Loaded ahead of any run, it keeps nobody waiting.
    document::RunSettings other;
    other.threads = 1;
    host.prepare(other);
    QTRY_COMPARE_WITH_TIMEOUT(loads, 2, kPatience);
    QCOMPARE(taken.back(), false);
    QTRY_COMPARE_WITH_TIMEOUT(host.state(), EngineState::Idle, kPatience);
  }

  void aRunIsStoppedWhileItsModelIsLoaded() {
    EngineHost host{test::cpuBackends()};
    QSignalSpy ended(&host, &EngineHost::runEnded);
    connect(&host, &EngineHost::stateChanged, &host, [&] {
      if (host.state() == EngineState::Loading) host.stop();
    });
    QVERIFY(host.run(requestFor(QStringLiteral("rag.json"))));
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QCOMPARE(host.state(), EngineState::Idle);
    QVERIFY(!host.isBusy());
    std::vector<trace::Event> events;
    host.drain(events);
    const auto* finished = lastOf<trace::RunFinished>(events);
    QVERIFY(finished == nullptr || finished->outcome == trace::RunOutcome::Stopped);
  }

  /// Works that the host knows nothing of.
  void carriesOutOtherWorks() {
    EngineHost host{test::cpuBackends()};
    const auto work = [](std::function<void(const std::stop_token&)> part) {
      return std::make_shared<workbench::FunctionWork>(
          [part = std::move(part)](workbench::Workplace&, const std::stop_token& stop) { part(stop); });
    };
    QStringList answers;
    const auto answer = [&answers](const QString& error) { answers += error; };
    const auto untilStopped = [](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    QVERIFY(host.carryOut(work(untilStopped), answer));
    QCOMPARE(host.state(), EngineState::Running);
    QVERIFY(!host.carryOut(work(untilStopped), answer));
    QVERIFY(!host.run(requestFor(QStringLiteral("rag.json"))));
    host.stop();
    QTRY_COMPARE_WITH_TIMEOUT(answers, QStringList{QString()}, kPatience);
    QCOMPARE(host.state(), EngineState::Idle);
    QVERIFY(host.carryOut(work([](const std::stop_token&) { throw std::runtime_error("no luck"); }), answer));
    QTRY_COMPARE_WITH_TIMEOUT(answers, (QStringList{QString(), QStringLiteral("no luck")}), kPatience);
    QCOMPARE(runToEnd(host, requestFor(QStringLiteral("rag.json"))).empty(), false);
  }

  void saysWhatAModelLacks() {
    EngineHost host{test::cpuBackends()};
    document::RunSettings settings;
    settings.model = "/nowhere/at/all";
    QString error;
    QVERIFY(runToEnd(host, requestFor(QStringLiteral("chat.json"), settings), &error).empty());
    QVERIFY2(error.contains(QStringLiteral("/nowhere/at/all")), qPrintable(error));
    QCOMPARE(host.state(), EngineState::Idle);
    runToEnd(host, requestFor(QStringLiteral("chat.json")), &error);
    QCOMPARE(error, QString());
  }

  void refusesWhatDoesNotFit() {
    EngineHost host{test::cpuBackends()};
    document::RunSettings settings;
    settings.blockCount = 4;
    QString error;
    runToEnd(host, requestFor(QStringLiteral("rag.json"), settings), &error);
    QVERIFY(!error.isEmpty());
  }

  /// A run that would go on for long ends soon after it is told to, and the next one runs.
  void stops() {
    EngineHost host{test::cpuBackends()};
    runToEnd(host, requestFor(QStringLiteral("chat.json")));  // the model is there from now on
    RunRequest request = requestFor(QStringLiteral("chat.json"));
    for (plan::Step& step : request.plan.steps) step.temperature = 5;  // noise ends late
    request.plan.steps.resize(1);
    request.plan.steps.front().maxTokens = 400;
    QSignalSpy ended(&host, &EngineHost::runEnded);
    QVERIFY(host.run(request));
    QVERIFY(!host.run(request));  // one at a time
    std::vector<trace::Event> events;
    while (lastOf<trace::TokenGenerated>(events) == nullptr) {
      QTest::qWait(1);
      host.drain(events);
    }
    host.stop();
    QVERIFY(ended.count() == 1 || ended.wait(kPatience));
    host.drain(events);
    const auto* finished = lastOf<trace::RunFinished>(events);
    QVERIFY(finished != nullptr);
    QVERIFY(finished->outcome == trace::RunOutcome::Stopped ||
            lastOf<trace::StepFinished>(events)->outcome == trace::StepOutcome::EndToken);
    QVERIFY(!runToEnd(host, requestFor(QStringLiteral("chat.json"))).empty());
  }

  void endsWhileRunning() {
    EngineHost host{test::cpuBackends()};
    QVERIFY(host.run(requestFor(QStringLiteral("list-and-combine.json"))));
    QTest::qWait(20);
    // The destructor stops the run and waits for it.
  }

  void recordsIntoAFile() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.trace"));
    EngineHost host{test::cpuBackends()};
    QVERIFY(!host.startRecording(path).isEmpty());  // no session yet
    TraceStore live;
    for (auto& event : runToEnd(host, requestFor(QStringLiteral("rag.json")))) live.append(std::move(event));
    QCOMPARE(host.startRecording(path), QString());
    QVERIFY(host.isRecording());
    for (auto& event : runToEnd(host, requestFor(QStringLiteral("rag-swapped.json"))))
      live.append(std::move(event));
    QCOMPARE(host.finishRecording(), QString());
    const TraceStore read = TraceStore::open(path.toStdString());
    QCOMPARE(read.newest().pool().state(), live.newest().pool().state());
    QCOMPARE(read.newest().progress().runs.rbegin()->second.answer,
             live.newest().progress().runs.rbegin()->second.answer);
  }
};

SPANSCOPE_TEST(tst_engine_host, TestEngineHost, QCoreApplication)
#include "tst_engine_host.moc"
