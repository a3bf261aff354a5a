// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/attention_replay.h"
#include "engine/jobs/fidelity.h"
#include "engine/plan/explain.h"
#include "engine/query/json/json.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/workbench/pipeline.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/session/engine_host.h"
#include "ui/session/run_request.h"
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

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;
using spanscope::product_text::worded;

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

constexpr std::uint32_t kTab = 1;
constexpr std::uint32_t kOtherTab = 2;

bool submitRun(EngineHost& host, RunRequest request, std::uint32_t tab = kTab) {
  return host.submit({.work = makeRunJob(std::move(request)), .tab = tab});
}

/// Runs to the end and gives the events since the last call.
std::vector<trace::Event> runToEnd(EngineHost& host, RunRequest request, QString* error = nullptr) {
  QSignalSpy ended(&host, &EngineHost::jobEnded);
  if (!submitRun(host, std::move(request)) || !ended.wait(kPatience)) return {};
  if (error != nullptr) *error = ended.front().front().toString();
  std::vector<trace::Event> events;
  host.drain(events);
  return events;
}

/// A run that goes on for long.
RunRequest longRequest(document::RunSettings settings = {}) {
  RunRequest request = requestFor(QStringLiteral("chat.json"), std::move(settings));
  for (plan::Step& step : request.plan.steps) step.temperature = 5;  // noise ends late
  request.plan.steps.resize(1);
  request.plan.steps.front().maxTokens = 400;
  return request;
}

/// The answer of the last request, from its events.
run::FinishedAnswer answerOf(const std::vector<trace::Event>& events) {
  run::FinishedAnswer answer;
  for (const trace::Event& event : events) {
    if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload)) {
      answer = run::FinishedAnswer();
      answer.run = event.run;
      answer.request = event.request;
      answer.node = event.node;
      answer.segments = table->segments;
    }
    if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload))
      answer.tokens.push_back(token->token);
  }
  return answer;
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

  /// A tab may have a run beside its measurement, and each is stopped separately.
  void aTabRunsBesideWhatItMeasures() {
    EngineHost host{test::cpuBackends()};
    const auto measuring = [](std::uint32_t tab) {
      return EngineJob{.work = std::make_shared<workbench::FunctionJob>(
                           [](workbench::JobContext&, const std::stop_token& stop) {
                             while (!stop.stop_requested())
                               std::this_thread::sleep_for(std::chrono::milliseconds(1));
                           }),
                       .tab = tab,
                       .activity = [] { return QStringLiteral("Measuring"); },
                       .measures = true};
    };
    QVERIFY(host.submit(measuring(kTab)));
    QVERIFY(!host.submit(measuring(kTab)));
    QVERIFY(!host.isBusy(kTab) && host.isMeasuring(kTab) && host.isBusy());
    QTRY_COMPARE_WITH_TIMEOUT(host.activity(kTab), QStringLiteral("Measuring"), kPatience);
    QVERIFY(submitRun(host, requestFor(QStringLiteral("chat.json"))));
    QVERIFY(!submitRun(host, requestFor(QStringLiteral("chat.json"))));
    QCOMPARE(host.activity(kTab), worded("<waits-next-step>"));
    // Another one that measures can only wait until the end.
    QVERIFY(host.submit(measuring(kOtherTab)));
    QCOMPARE(host.activity(kOtherTab), worded("<waiting-until-other>"));
    host.stop(kTab);
    QTRY_VERIFY_WITH_TIMEOUT(!host.isBusy(kTab), kPatience);
    QVERIFY(host.isMeasuring(kTab));
    host.stop(kTab);
    host.stopMeasuring(kOtherTab);
    QTRY_VERIFY_WITH_TIMEOUT(!host.isMeasuring(kOtherTab), kPatience);
    QVERIFY(host.isMeasuring(kTab));
    host.stopMeasuring(kTab);
    QTRY_VERIFY_WITH_TIMEOUT(!host.isBusy(), kPatience);
  }

  /// Of what gives way, a new one takes the place of its own kind alone.
  void whatGivesWayLeavesOtherKinds() {
    EngineHost host{test::cpuBackends()};
    std::promise<void> gate;
    QVERIFY(host.submit({.work = std::make_shared<workbench::FunctionJob>(
                             [opened = gate.get_future().share()](workbench::JobContext&,
                                                                  const std::stop_token&) { opened.wait(); }),
                         .tab = kTab}));
    std::map<int, workbench::JobState> states;
    const auto submit = [&](int number, std::uint32_t aside) {
      host.submit({.work = std::make_shared<workbench::FunctionJob>(
                       [](workbench::JobContext&, const std::stop_token&) {}),
                   .changed = [&states, number](workbench::JobState state,
                                                const QString&) { states[number] = state; },
                   .givesWay = true,
                   .aside = aside});
    };
    submit(1, 0);
    submit(2, 1);
    submit(3, 1);
    gate.set_value();
    QTRY_VERIFY_WITH_TIMEOUT(states.size() == 3 && states[3] == workbench::JobState::Finished, kPatience);
    QCOMPARE(states[1], workbench::JobState::Finished);
    QCOMPARE(states[2], workbench::JobState::Stopped);
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
    QSignalSpy ended(&host, &EngineHost::jobEnded);
    run::FinishedAnswer answer;
    std::int32_t layer = 0;
    const auto submit = [&] {
      return host.submit({.work = std::make_shared<jobs::AttentionReplayJob>(
                              jobs::ReplayChoice{.request = answer.request, .layer = layer}, answer),
                          .tab = kTab});
    };
    QVERIFY(submit());
    QVERIFY(!submit());
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(ended.back().front().toString(), worded("<session-gave-answer>"));
    QCOMPARE(host.state(), EngineState::Idle);

    const auto events = runToEnd(host, requestFor(QStringLiteral("rag.json")));
    QVERIFY(lastOf<trace::SegmentAttention>(events) != nullptr);
    QCOMPARE(lastOf<trace::AttentionMass>(events)->layer, -1);
    answer = answerOf(events);
    layer = 4;
    ended.clear();
    QVERIFY(submit());
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(ended.back().front().toString(), QString());
    std::vector<trace::Event> finer;
    host.drain(finer);
    QCOMPARE(lastOf<trace::AttentionReplayed>(finer)->layer, 4);
    QCOMPARE(lastOf<trace::ReplayedMass>(finer)->index, static_cast<std::int32_t>(answer.tokens.size()) - 1);

    layer = 40;
    QVERIFY(submit());
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(ended.back().front().toString(), QStringLiteral("layer: Spanscope found 40, but needs 0 to 5"));

    // Nothing of another session is taken for it.
    document::RunSettings other;
    other.blockSize = 8;
    runToEnd(host, requestFor(QStringLiteral("chat.json"), other));
    ended.clear();
    layer = 4;
    QVERIFY(submit());
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(ended.back().front().toString(), worded("<session-gave-answer>"));
  }

  /// While the model is loaded for a run, that run is in progress: it is the only one, and can be stopped.
  void loadingForARunIsPartOfIt() {
    EngineHost host{test::cpuBackends()};
    QSignalSpy ended(&host, &EngineHost::jobEnded);
    int loads = 0;
    EngineState before = EngineState::Idle;
    QList<bool> taken;
    connect(&host, &EngineHost::stateChanged, &host, [&] {
      // It is said of every activity, too.
      if (std::exchange(before, host.state()) == host.state() || host.state() != EngineState::Loading) return;
      if (loads++ == 0) taken += submitRun(host, requestFor(QStringLiteral("rag.json")));
      taken += host.isBusy(kTab);
    });
    QVERIFY(!host.isBusy());
    QVERIFY(submitRun(host, requestFor(QStringLiteral("rag.json"))));
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
    QSignalSpy ended(&host, &EngineHost::jobEnded);
    connect(&host, &EngineHost::stateChanged, &host, [&] {
      if (host.state() == EngineState::Loading) host.stop(kTab);
    });
    QVERIFY(submitRun(host, requestFor(QStringLiteral("rag.json"))));
    QVERIFY(ended.wait(kPatience));
    QCOMPARE(ended.front().front().toString(), QString());
    QCOMPARE(host.state(), EngineState::Idle);
    QVERIFY(!host.isBusy());
    std::vector<trace::Event> events;
    host.drain(events);
    const auto* finished = lastOf<trace::RunFinished>(events);
    QVERIFY(finished == nullptr || finished->outcome == trace::RunOutcome::Stopped);
  }

  /// One at a time for a tab, whatever kind of work it is; what it does now is said.
  void carriesOutWorksOfAnyKind() {
    EngineHost host{test::cpuBackends()};
    const auto work = [](std::function<void(const std::stop_token&)> part) {
      return std::make_shared<workbench::FunctionJob>(
          [part = std::move(part)](workbench::JobContext&, const std::stop_token& stop) { part(stop); });
    };
    QStringList answers;
    const auto changed = [&answers](workbench::JobState state, const QString& problem) {
      if (workbench::hasEnded(state)) answers += problem;
    };
    const auto untilStopped = [](const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    const auto activity = [] { return QStringLiteral("doing nothing"); };
    QVERIFY(host.submit({.work = work(untilStopped), .tab = kTab, .activity = activity, .changed = changed}));
    QCOMPARE(host.state(), EngineState::Running);
    QVERIFY(!host.submit({.work = work(untilStopped), .tab = kTab, .changed = changed}));
    QVERIFY(!submitRun(host, requestFor(QStringLiteral("rag.json"))));
    QTRY_COMPARE_WITH_TIMEOUT(host.activity(kTab), QStringLiteral("doing nothing"), kPatience);
    QCOMPARE(host.activity(kOtherTab), QString());
    // Another tab waits, and can go before its turn has come.
    QVERIFY(submitRun(host, requestFor(QStringLiteral("rag.json")), kOtherTab));
    QCOMPARE(host.activity(kOtherTab), worded("<waiting-until-other>"));
    host.stop(kOtherTab);
    QTRY_VERIFY_WITH_TIMEOUT(!host.isBusy(kOtherTab), kPatience);
    QVERIFY(host.isBusy(kTab));
    host.stop(kTab);
    QTRY_COMPARE_WITH_TIMEOUT(answers, QStringList{QString()}, kPatience);
    QCOMPARE(host.state(), EngineState::Idle);
    QVERIFY(host.submit({.work = work([](const std::stop_token&) { throw std::runtime_error("no luck"); }),
                         .tab = kTab,
                         .changed = changed}));
    QTRY_COMPARE_WITH_TIMEOUT(answers, (QStringList{QString(), QStringLiteral("no luck")}), kPatience);
    QCOMPARE(runToEnd(host, requestFor(QStringLiteral("rag.json"))).empty(), false);
  }

  /// Stop ends the run of its tab alone.
  void runsOfTabsGoOnBesideEachOther() {
    EngineHost host{test::cpuBackends()};
    std::map<std::uint32_t, int> ended;
    connect(&host, &EngineHost::jobEnded, &host,
            [&ended](const QString&, std::uint32_t tab) { ++ended[tab]; });
    runToEnd(host, requestFor(QStringLiteral("chat.json")));
    ended.clear();
    QVERIFY(submitRun(host, longRequest()));
    QVERIFY(submitRun(host, longRequest(), kOtherTab));
    std::vector<trace::Event> events;
    const auto areBothThere = [&] {
      host.drain(events);
      std::map<RunId, int> tokens;
      for (const trace::Event& event : events)
        tokens[event.run] += std::holds_alternative<trace::TokenGenerated>(event.payload) ? 1 : 0;
      return tokens[2] > 0 && tokens[3] > 0;
    };
    QVERIFY(QTest::qWaitFor(areBothThere, kPatience));
    host.stop(kOtherTab);
    QTRY_COMPARE_WITH_TIMEOUT(ended[kOtherTab], 1, kPatience);
    host.drain(events);
    const auto* finished = lastOf<trace::RunFinished>(events);
    QVERIFY(finished != nullptr);
    host.stop(kTab);
    QTRY_COMPARE_WITH_TIMEOUT(ended[kTab], 1, kPatience);
    QVERIFY(!host.isBusy());
  }

  /// Runs of three tabs, replays, what gives way, an emptied cache and a recording, all at once: each job
  /// ends.
  void everythingAtOnce() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("all.trace"));
    EngineHost host{test::cpuBackends()};
    document::RunSettings settings;
    settings.threads = 2;
    const auto first = runToEnd(host, requestFor(QStringLiteral("rag.json"), settings));
    const run::FinishedAnswer answer = answerOf(first);
    QCOMPARE(host.startRecording(path, folder.filePath(QStringLiteral("side"))), QString());
    std::map<std::uint32_t, int> ended;
    QStringList problems;
    connect(&host, &EngineHost::jobEnded, &host, [&](const QString& problem, std::uint32_t tab) {
      ++ended[tab];
      if (!problem.isEmpty()) problems += problem;
    });
    constexpr std::uint32_t kTabs = 3;
    constexpr int kRounds = 4;
    std::vector<trace::Event> events;
    for (int round = 0; round < kRounds; ++round) {
      for (std::uint32_t tab = 1; tab <= kTabs; ++tab) {
        const bool replays = (static_cast<int>(tab) + round) % 3 == 0;
        if (replays) {
          QVERIFY(host.submit({.work = std::make_shared<jobs::AttentionReplayJob>(
                                   jobs::ReplayChoice{.request = answer.request, .layer = 1}, answer),
                               .tab = tab}));
        } else {
          QVERIFY(submitRun(
              host, tab == 1 ? longRequest(settings) : requestFor(QStringLiteral("rag.json"), settings),
              tab));
        }
      }
      host.submit(
          {.work = std::make_shared<workbench::FunctionJob>(
               [](workbench::JobContext& place, const std::stop_token&) { place.openSession().dumpPool(); }),
           .givesWay = true});
      if (round == 1) host.clearCache();
      if (round == 2) host.findDevices();
      QTest::qWait(10);
      host.drain(events);
      host.stop(1);
      const auto haveAllEnded = [&] {
        host.drain(events);
        return ended[1] > round && ended[2] > round && ended[3] > round;
      };
      QVERIFY(QTest::qWaitFor(haveAllEnded, kPatience));
    }
    QCOMPARE(problems, QStringList());
    QCOMPARE(host.finishRecording(), QString());
    QVERIFY(TraceStore::open(path.toStdString()).contradictions().empty());
  }

  /// A prediction gives way to the user's jobs.
  void givesWay() {
    EngineHost host{test::cpuBackends()};
    workbench::JobState state = workbench::JobState::Waiting;
    QSignalSpy ended(&host, &EngineHost::jobEnded);
    QVERIFY(host.submit({.work = std::make_shared<workbench::FunctionJob>(
                             [](workbench::JobContext&, const std::stop_token& stop) {
                               while (!stop.stop_requested())
                                 std::this_thread::sleep_for(std::chrono::milliseconds(1));
                             }),
                         .changed = [&state](workbench::JobState now, const QString&) { state = now; },
                         .givesWay = true}));
    QTRY_COMPARE_WITH_TIMEOUT(state, workbench::JobState::Working, kPatience);
    QVERIFY(!host.isBusy());
    QCOMPARE(host.state(), EngineState::Idle);
    QVERIFY(submitRun(host, requestFor(QStringLiteral("chat.json"))));
    QTRY_COMPARE_WITH_TIMEOUT(state, workbench::JobState::Stopped, kPatience);
    QVERIFY(ended.count() == 1 || ended.wait(kPatience));
    QCOMPARE(ended.front().at(1).toUInt(), kTab);
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

  /// A long run ends soon after a stop, and the next one runs.
  void stops() {
    EngineHost host{test::cpuBackends()};
    runToEnd(host, requestFor(QStringLiteral("chat.json")));  // the model is there from now on
    QSignalSpy ended(&host, &EngineHost::jobEnded);
    QVERIFY(submitRun(host, longRequest()));
    QVERIFY(!submitRun(host, longRequest()));  // one at a time
    std::vector<trace::Event> events;
    while (lastOf<trace::TokenGenerated>(events) == nullptr) {
      QTest::qWait(1);
      host.drain(events);
    }
    host.stop(kTab);
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
    QVERIFY(submitRun(host, requestFor(QStringLiteral("list-and-combine.json"))));
    QTest::qWait(20);
    // The destructor stops the run and waits for it.
  }

  void recordsIntoAFile() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.trace"));
    EngineHost host{test::cpuBackends()};
    const QString side = folder.filePath(QStringLiteral("side"));
    TraceStore live;
    for (auto& event : runToEnd(host, requestFor(QStringLiteral("rag.json")))) live.append(std::move(event));
    QCOMPARE(host.startRecording(path, side), QString());
    QVERIFY(host.recording().isOn());
    for (auto& event : runToEnd(host, requestFor(QStringLiteral("rag-swapped.json"))))
      live.append(std::move(event));
    QCOMPARE(host.finishRecording(), QString());
    const TraceStore read = TraceStore::open(path.toStdString());
    QCOMPARE(read.newest().pool().state(), live.newest().pool().state());
    QCOMPARE(read.newest().progress().runs.rbegin()->second.answer,
             live.newest().progress().runs.rbegin()->second.answer);
  }

  /// The first session is recorded from its first event on, and another model's goes into another file.
  void recordsBeforeTheFirstRunAndAfterAChangeOfTheModel() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("run.trace"));
    EngineHost host{test::cpuBackends()};
    QCOMPARE(host.startRecording(path, folder.filePath(QStringLiteral("side"))), QString());
    const std::vector<trace::Event> first = runToEnd(host, requestFor(QStringLiteral("chat.json")));
    RunRequest other = requestFor(QStringLiteral("chat.json"));
    other.settings.blockSize = other.settings.blockSize == 16 ? 8 : 16;
    const std::vector<trace::Event> second = runToEnd(host, other);
    QVERIFY(second.front().sequence == 1);
    QCOMPARE(host.recording().sessions(), std::size_t{2});
    QCOMPARE(host.finishRecording(), QString());
    QVERIFY(trace::readTrace(path.toStdString()).events == first);
    QVERIFY(trace::readTrace(folder.filePath(QStringLiteral("run-2.trace")).toStdString()).events == second);
  }
};

SPANSCOPE_TEST(tst_engine_host, TestEngineHost, QCoreApplication)
#include "tst_engine_host.moc"
