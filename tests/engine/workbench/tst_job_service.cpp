// SPDX-License-Identifier: GPL-3.0-or-later
// Works submitted to the service: who goes on beside whom, in which order, and how each ends.
#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/session.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/run_job.h"
#include "engine/workbench/settings.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::workbench;

namespace {

std::shared_ptr<const plan::Plan> planOf(const std::string& document, int tokens) {
  const auto parsed =
      query::parseJson(R"({"g":{"model":"m","max_tokens":)" + std::to_string(tokens) +
                       R"(,"temperature":0.0,"input":{"cross":[{"system":"You answer."},{"plus":[{"user":")" +
                       document + R"("}]},{"user":"Where does Mira live?"}]}}})");
  auto result = plan::makePlan(*parsed.query, {});
  return std::make_shared<const plan::Plan>(std::move(*result.plan));
}

RunSettings tinySettings() {
  RunSettings settings;
  settings.threads = 1;
  return settings;
}

std::shared_ptr<RunJob> runOf(const std::string& document, int tokens = 16,
                              const RunSettings& settings = tinySettings(), std::int32_t priority = 0) {
  const auto prepare = [=](JobContext&, const retrieve::Watch&) {
    RunJob::Prepared prepared{.plan = planOf(document, tokens), .options = runOptionsOf(settings)};
    prepared.options.priority = priority;
    return prepared;
  };
  return std::make_shared<RunJob>(settings, RunJob::Preparation{.prepare = prepare});
}

std::shared_ptr<FunctionJob> functionOf(FunctionJob::Function function) {
  return std::make_shared<FunctionJob>(std::move(function));
}

/// Keeps the notifications, from the service's thread.
class Notes final : public JobContextWatcher {
 public:
  void loadingBegins() override { ++loads; }
  void sessionOpens(const std::shared_ptr<trace::Recorder>& recorder) override {
    const std::lock_guard lock(m_mutex);
    m_recorders.push_back(recorder);
  }

  std::vector<trace::Event> events() {
    std::vector<trace::Event> found;
    const std::lock_guard lock(m_mutex);
    for (const auto& recorder : m_recorders) recorder->drain(found);
    return found;
  }
  std::size_t sessions() {
    const std::lock_guard lock(m_mutex);
    return m_recorders.size();
  }

  std::atomic<int> loads = 0;

 private:
  std::mutex m_mutex;
  std::vector<std::shared_ptr<trace::Recorder>> m_recorders;
};

/// Holds the service up until it is opened.
struct Gate {
  std::promise<void> promise;
  std::shared_future<void> opened = promise.get_future().share();

  std::shared_ptr<FunctionJob> work() {
    return functionOf([opened = opened](JobContext&, const std::stop_token&) { opened.wait(); });
  }
  void open() { promise.set_value(); }
};

}  // namespace

class TestWorkService : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void weightsAreTakenOverWhenThereIsTime();
  void whatComparesTimesOwnsItsWeights();
  void runsGoOnBesideEachOther() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    const auto first = runOf("Mira lives in Lisbon.");
    const auto second = runOf("Mira lives in Oslo.");
    JobHandle a = service.submit(first);
    JobHandle b = service.submit(second);
    QCOMPARE(a.state(), JobState::Waiting);
    gate.open();
    a.wait();
    b.wait();
    QCOMPARE(a.state(), JobState::Finished);
    QCOMPARE(b.state(), JobState::Finished);
    QVERIFY(first->result() && second->result());
    QVERIFY(!first->result()->answer.empty());
    QCOMPARE(notes.loads, 1);
    QCOMPARE(notes.sessions(), std::size_t{1});
    bool isShared = false;
    for (const trace::Event& event : notes.events()) {
      const auto* pass = std::get_if<trace::BatchComputed>(&event.payload);
      if (pass == nullptr) continue;
      std::set<RequestId> requests;
      for (const auto& entry : pass->entries) requests.insert(entry.request);
      isShared = isShared || requests.size() > 1;
    }
    QVERIFY(isShared);
  }

  /// Other works begin when no run is in progress, and see the session that runs left.
  void otherWorksWaitForRuns() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    const auto run = runOf("Mira lives in Lisbon.");
    service.submit(run);
    bool hadEnded = false;
    bool wasRunning = true;
    JobHandle other = service.submit(functionOf([&](JobContext& place, const std::stop_token&) {
      hadEnded = run->result().has_value();
      wasRunning = place.openSession().isRunning();
    }));
    gate.open();
    other.wait();
    QVERIFY(hadEnded && !wasRunning);
  }

  /// Model and cache that differ are another session: never while one is in progress.
  void anotherSessionWaits() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    RunSettings small = tinySettings();
    small.blockSize = 8;
    const auto first = runOf("Mira lives in Lisbon.");
    const auto second = runOf("Mira lives in Oslo.", 16, small);
    service.submit(first);
    JobHandle last = service.submit(second);
    gate.open();
    last.wait();
    QCOMPARE(last.state(), JobState::Finished);
    QCOMPARE(notes.sessions(), std::size_t{2});
    QCOMPARE(notes.loads, 1);
  }

  void largerPriorityBeginsFirst() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    std::vector<int> order;
    const auto note = [&](int number) {
      return functionOf([&order, number](JobContext&, const std::stop_token&) { order.push_back(number); });
    };
    std::vector<JobHandle> handles;
    handles.push_back(service.submit(note(1)));
    handles.push_back(service.submit(note(2), {.priority = 3}));
    handles.push_back(service.submit(note(3), {.priority = -1}));
    handles.push_back(service.submit(note(4), {.priority = 3}));
    gate.open();
    for (const JobHandle& handle : handles) handle.wait();
    QCOMPARE(order, (std::vector<int>{2, 4, 1, 3}));
  }

  void eachSaysHowItEnded() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    std::vector<std::pair<JobState, std::string>> reported;
    const auto changed = [&](JobState state, const std::string& problem) {
      if (hasEnded(state)) reported.emplace_back(state, problem);
    };
    JobHandle fine =
        service.submit(functionOf([](JobContext&, const std::stop_token&) {}), {.changed = changed});
    JobHandle broken = service.submit(
        functionOf([](JobContext&, const std::stop_token&) { throw std::runtime_error("no luck"); }),
        {.changed = changed});
    JobHandle sessionless =
        service.submit(functionOf([](JobContext& place, const std::stop_token&) { place.openSession(); }),
                       {.changed = changed});
    RunSettings nowhere = tinySettings();
    nowhere.model = "/nowhere";
    JobHandle modelless = service.submit(runOf("Mira.", 4, nowhere), {.changed = changed});
    JobHandle fineAgain = service.submit(runOf("Mira lives in Lisbon.", 4), {.changed = changed});
    for (const JobHandle& handle : {fine, broken, sessionless, modelless, fineAgain}) handle.wait();
    QCOMPARE(reported.size(), std::size_t{5});
    QCOMPARE(fine.state(), JobState::Finished);
    QCOMPARE(broken.state(), JobState::Failed);
    QCOMPARE(broken.problem(), std::string("no luck"));
    QCOMPARE(reported[1].second, std::string("no luck"));
    QCOMPARE(sessionless.state(), JobState::Failed);
    QCOMPARE(modelless.state(), JobState::Failed);
    QVERIFY(modelless.problem().find("/nowhere") != std::string::npos);
    QCOMPARE(fineAgain.state(), JobState::Finished);
    QCOMPARE(JobHandle().state(), JobState::Stopped);
  }

  void stopsWhatWaitsAndWhatGoesOn() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    JobHandle first;
    // Without a call, when it is about to begin.
    const auto stoppedRun = std::make_shared<RunJob>(
        tinySettings(), RunJob::Preparation{.prepare = [&first](JobContext&, const retrieve::Watch&) {
          first.stop();
          return RunJob::Prepared{.plan = planOf("Tarek is a baker.", 200), .options = {}};
        }});
    const auto other = runOf("Mira lives in Lisbon.", 30);
    first = service.submit(stoppedRun);
    JobHandle second = service.submit(other);
    bool hasBegun = false;
    JobHandle waiting =
        service.submit(functionOf([&](JobContext&, const std::stop_token&) { hasBegun = true; }));
    waiting.stop();
    gate.open();
    for (const JobHandle& handle : {first, second, waiting}) handle.wait();
    QCOMPARE(first.state(), JobState::Stopped);
    QCOMPARE(stoppedRun->result()->outcome, trace::RunOutcome::Stopped);
    QCOMPARE(second.state(), JobState::Finished);
    QCOMPARE(waiting.state(), JobState::Stopped);
    QVERIFY(!hasBegun);
  }

  /// It ends at once, during any other job, and the later jobs come nearer.
  void stopEndsWhatWaits() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    std::vector<JobState> reported;
    bool hasBegun = false;
    JobHandle waiting =
        service.submit(functionOf([&](JobContext&, const std::stop_token&) { hasBegun = true; }),
                       {.changed = [&](JobState state, const std::string&) { reported.push_back(state); }});
    waiting.stop();
    QCOMPARE(waiting.state(), JobState::Stopped);
    waiting.wait();
    QCOMPARE(reported, std::vector<JobState>{JobState::Stopped});
    gate.open();
    service.submit(functionOf([](JobContext&, const std::stop_token&) {})).wait();
    QVERIFY(!hasBegun);
    QCOMPARE(reported.size(), std::size_t{1});
  }

  /// A run of another session that is taken out of the queue no longer holds up those of this one.
  void whatWasStoppedHoldsNobodyUp() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    RunSettings small = tinySettings();
    small.blockSize = 8;
    const auto first = runOf("Mira lives in Lisbon.", 60);
    const auto second = runOf("Mira lives in Oslo.", 4, small);
    const auto third = runOf("Mira lives in Porto.", 4);
    JobHandle a = service.submit(first);
    JobHandle b = service.submit(second);
    JobHandle c = service.submit(third);
    b.stop();
    gate.open();
    for (const JobHandle& handle : {a, b, c}) handle.wait();
    QCOMPARE(c.state(), JobState::Finished);
    QCOMPARE(notes.sessions(), std::size_t{1});
    QVERIFY(!second->result());
    QCOMPARE(second->run(), RunId{0});
    QVERIFY(third->run() > first->run());
  }

  /// Who hears of the first event of a run knows already whose it is.
  void runsAreKnownByTheirNumber() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    const auto run = runOf("Mira lives in Lisbon.", 4);
    service.submit(run).wait();
    QCOMPARE(run->run(), RunId{1});
    const auto later = std::make_shared<RunJob>(
        tinySettings(),
        RunJob::Preparation{.prepare =
                                [](JobContext&, const retrieve::Watch&) {
                                  return RunJob::Prepared{.plan = planOf("Mira.", 4), .options = {}};
                                }},
        40, 90);
    service.submit(later).wait();
    QCOMPARE(later->run(), RunId{41});
    std::set<RunId> started;
    for (const trace::Event& event : notes.events()) {
      if (std::holds_alternative<trace::RunStarted>(event.payload)) started.insert(event.run);
    }
    QCOMPARE(started, (std::set<RunId>{1, 41}));
  }

  /// What goes on is stopped, what waits is dropped, and nobody who waits for it waits for ever.
  void endsWhileThereIsWork() {
    Notes notes;
    std::vector<JobHandle> handles;
    int reported = 0;
    {
      JobService service(test::cpuBackends(), notes);
      handles.push_back(service.submit(functionOf([](JobContext&, const std::stop_token& stop) {
        while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      })));
      QTRY_COMPARE(handles.back().state(), JobState::Working);
      handles.push_back(service.submit(runOf("Mira lives in Lisbon.")));
      handles.push_back(service.submit(functionOf([](JobContext&, const std::stop_token&) {}),
                                       {.changed = [&](JobState, const std::string&) { ++reported; }}));
    }
    for (JobHandle& handle : handles) {
      handle.wait();
      QCOMPARE(handle.state(), JobState::Stopped);
      handle.stop();
    }
    QCOMPARE(reported, 0);
  }

  /// Whatever comes later finds the cache emptied, also where it begins before what came earlier; what came
  /// earlier and is not overtaken finds it as it was.
  void nothingOvertakesTheClearing() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    service.submit(runOf("Mira lives in Lisbon. Mira plays the cello.", 4)).wait();
    std::map<int, bool> isEmpty;
    const auto look = [&](int number) {
      return functionOf([&isEmpty, number](JobContext& place, const std::stop_token&) {
        const trace::PoolState pool = place.openSession().dumpPool();
        isEmpty[number] = std::none_of(pool.blocks.begin(), pool.blocks.end(),
                                       [](const trace::BlockState& block) { return block.cached; });
      });
    };
    for (const std::int32_t priority : {0, 3}) {
      isEmpty.clear();
      service.submit(runOf("Mira lives in Lisbon. Mira plays the cello.", 4)).wait();
      Gate gate;
      service.submit(gate.work(), {.priority = 9});
      std::vector<JobHandle> handles;
      handles.push_back(service.submit(look(1), {.priority = 3}));
      handles.push_back(service.submit(look(2), {.priority = 0}));
      service.clearCache();
      handles.push_back(service.submit(look(3), {.priority = priority}));
      handles.push_back(service.submit(look(4), {.priority = -1}));
      gate.open();
      for (const JobHandle& handle : handles) handle.wait();
      const bool isOvertaken = priority > 0;
      QCOMPARE(isEmpty, (std::map<int, bool>{{1, false}, {2, isOvertaken}, {3, true}, {4, true}}));
    }
  }

  /// Runs in progress empty the cache themselves; a run that comes later begins beside them.
  void clearingHoldsNobodyUp() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    const auto first = std::make_shared<RunJob>(
        tinySettings(), RunJob::Preparation{.prepare = [](JobContext&, const retrieve::Watch&) {
          plan::Plan plan = *planOf("Mira lives in Lisbon.", 400);
          plan.steps.front().temperature = 5;  // noise ends late
          return RunJob::Prepared{.plan = std::make_shared<const plan::Plan>(std::move(plan)),
                                  .options = runOptionsOf(tinySettings())};
        }});
    const auto second = runOf("Mira lives in Oslo.", 4);
    JobHandle a = service.submit(first);
    service.clearCache();
    bool wasRunning = false;
    JobHandle b = service.submit(second, {.changed = [&](JobState state, const std::string&) {
                                   if (hasEnded(state)) wasRunning = first->run() != 0 && !first->result();
                                 }});
    gate.open();
    b.wait();
    a.stop();
    a.wait();
    QCOMPARE(b.state(), JobState::Finished);
    QVERIFY(wasRunning);
  }

  void cacheIsClearedBeforeWhatComesLater() {
    Notes notes;
    JobService service(test::cpuBackends(), notes);
    const auto cached = [&] {
      const auto run = runOf("Mira lives in Lisbon. Mira plays the cello. The lamp gave little light.", 4);
      service.submit(run).wait();
      return run->result()->steps.front().metrics.cachedTokens;
    };
    QCOMPARE(cached(), 0);
    QVERIFY(cached() > 0);
    service.clearCache();
    QCOMPARE(cached(), 0);
  }
};

/// A session begins with borrowed weights; when nothing is left to do, the service takes them over.
void TestWorkService::weightsAreTakenOverWhenThereIsTime() {
  Notes notes;
  JobService service(test::cpuBackends(), notes);
  bool isBorrowed = false;
  const auto look = [&isBorrowed](JobContext& place, const std::stop_token&) {
    isBorrowed = place.model()->decoder->own(0);
  };
  JobHandle opened = service.submit(functionOf([&](JobContext& place, const std::stop_token& stop) {
    place.sessionFor(tinySettings(), stop);
    look(place, stop);
  }));
  opened.wait();
  opened.rethrow();
  QVERIFY(isBorrowed);
  QTRY_VERIFY_WITH_TIMEOUT((service.submit(functionOf(look)).wait(), !isBorrowed), 20000);
}

void TestWorkService::whatComparesTimesOwnsItsWeights() {
  Notes notes;
  JobService service(test::cpuBackends(), notes);
  bool isBorrowed = true;
  JobHandle loaded = service.submit(functionOf([&](JobContext& place, const std::stop_token& stop) {
    isBorrowed = place.modelFor(tinySettings(), stop).decoder->own(0);
  }));
  loaded.wait();
  loaded.rethrow();
  QVERIFY(!isBorrowed);
}

SPANSCOPE_TEST(tst_job_service, TestWorkService)
#include "tst_job_service.moc"
