// SPDX-License-Identifier: GPL-3.0-or-later
// Works submitted to the service: who goes on beside whom, in which order, and how each ends.
#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/session.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/run_work.h"
#include "engine/workbench/service/work.h"
#include "engine/workbench/service/work_service.h"
#include "engine/workbench/service/workplace.h"
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

std::shared_ptr<RunWork> runOf(const std::string& document, int tokens = 16,
                               const RunSettings& settings = tinySettings(), std::int32_t priority = 0) {
  const auto prepare = [=](Workplace&, const retrieve::Watch&) {
    RunWork::Prepared prepared{.plan = planOf(document, tokens), .options = runOptionsOf(settings)};
    prepared.options.priority = priority;
    return prepared;
  };
  return std::make_shared<RunWork>(settings, RunWork::Preparation{.prepare = prepare});
}

std::shared_ptr<FunctionWork> functionOf(FunctionWork::Function function) {
  return std::make_shared<FunctionWork>(std::move(function));
}

/// Keeps what it is told, from the service's thread.
class Notes final : public WorkplaceWatcher {
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

  std::shared_ptr<FunctionWork> work() {
    return functionOf([opened = opened](Workplace&, const std::stop_token&) { opened.wait(); });
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
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    const auto first = runOf("Mira lives in Lisbon.");
    const auto second = runOf("Mira lives in Oslo.");
    WorkHandle a = service.submit(first);
    WorkHandle b = service.submit(second);
    QCOMPARE(a.state(), WorkState::Waiting);
    gate.open();
    a.wait();
    b.wait();
    QCOMPARE(a.state(), WorkState::Finished);
    QCOMPARE(b.state(), WorkState::Finished);
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
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    const auto run = runOf("Mira lives in Lisbon.");
    service.submit(run);
    bool hadEnded = false;
    bool wasRunning = true;
    WorkHandle other = service.submit(functionOf([&](Workplace& place, const std::stop_token&) {
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
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    RunSettings small = tinySettings();
    small.blockSize = 8;
    const auto first = runOf("Mira lives in Lisbon.");
    const auto second = runOf("Mira lives in Oslo.", 16, small);
    service.submit(first);
    WorkHandle last = service.submit(second);
    gate.open();
    last.wait();
    QCOMPARE(last.state(), WorkState::Finished);
    QCOMPARE(notes.sessions(), std::size_t{2});
    QCOMPARE(notes.loads, 1);
  }

  void largerPriorityBeginsFirst() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    std::vector<int> order;
    const auto note = [&](int number) {
      return functionOf([&order, number](Workplace&, const std::stop_token&) { order.push_back(number); });
    };
    std::vector<WorkHandle> handles;
    handles.push_back(service.submit(note(1)));
    handles.push_back(service.submit(note(2), {.priority = 3}));
    handles.push_back(service.submit(note(3), {.priority = -1}));
    handles.push_back(service.submit(note(4), {.priority = 3}));
    gate.open();
    for (const WorkHandle& handle : handles) handle.wait();
    QCOMPARE(order, (std::vector<int>{2, 4, 1, 3}));
  }

  void eachSaysHowItEnded() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    std::vector<std::pair<WorkState, std::string>> told;
    const auto changed = [&](WorkState state, const std::string& problem) {
      if (hasEnded(state)) told.emplace_back(state, problem);
    };
    WorkHandle fine =
        service.submit(functionOf([](Workplace&, const std::stop_token&) {}), {.changed = changed});
    WorkHandle broken = service.submit(
        functionOf([](Workplace&, const std::stop_token&) { throw std::runtime_error("no luck"); }),
        {.changed = changed});
    WorkHandle sessionless =
        service.submit(functionOf([](Workplace& place, const std::stop_token&) { place.openSession(); }),
                       {.changed = changed});
    RunSettings nowhere = tinySettings();
    nowhere.model = "/nowhere";
    WorkHandle modelless = service.submit(runOf("Mira.", 4, nowhere), {.changed = changed});
    WorkHandle fineAgain = service.submit(runOf("Mira lives in Lisbon.", 4), {.changed = changed});
    for (const WorkHandle& handle : {fine, broken, sessionless, modelless, fineAgain}) handle.wait();
    QCOMPARE(told.size(), std::size_t{5});
    QCOMPARE(fine.state(), WorkState::Finished);
    QCOMPARE(broken.state(), WorkState::Failed);
    QCOMPARE(broken.problem(), std::string("no luck"));
    QCOMPARE(told[1].second, std::string("no luck"));
    QCOMPARE(sessionless.state(), WorkState::Failed);
    QCOMPARE(modelless.state(), WorkState::Failed);
    QVERIFY(modelless.problem().find("/nowhere") != std::string::npos);
    QCOMPARE(fineAgain.state(), WorkState::Finished);
    QCOMPARE(WorkHandle().state(), WorkState::Stopped);
  }

  void stopsWhatWaitsAndWhatGoesOn() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    WorkHandle first;
    // By itself, when it is about to begin.
    const auto stoppedRun = std::make_shared<RunWork>(
        tinySettings(), RunWork::Preparation{.prepare = [&first](Workplace&, const retrieve::Watch&) {
          first.stop();
          return RunWork::Prepared{.plan = planOf("Tarek is a baker.", 200), .options = {}};
        }});
    const auto other = runOf("Mira lives in Lisbon.", 30);
    first = service.submit(stoppedRun);
    WorkHandle second = service.submit(other);
    bool hasBegun = false;
    WorkHandle waiting =
        service.submit(functionOf([&](Workplace&, const std::stop_token&) { hasBegun = true; }));
    waiting.stop();
    gate.open();
    for (const WorkHandle& handle : {first, second, waiting}) handle.wait();
    QCOMPARE(first.state(), WorkState::Stopped);
    QCOMPARE(stoppedRun->result()->outcome, trace::RunOutcome::Stopped);
    QCOMPARE(second.state(), WorkState::Finished);
    QCOMPARE(waiting.state(), WorkState::Stopped);
    QVERIFY(!hasBegun);
  }

  /// It ends at once, whatever goes on, and those behind it come nearer.
  void stopEndsWhatWaits() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    std::vector<WorkState> told;
    bool hasBegun = false;
    WorkHandle waiting =
        service.submit(functionOf([&](Workplace&, const std::stop_token&) { hasBegun = true; }),
                       {.changed = [&](WorkState state, const std::string&) { told.push_back(state); }});
    waiting.stop();
    QCOMPARE(waiting.state(), WorkState::Stopped);
    waiting.wait();
    QCOMPARE(told, std::vector<WorkState>{WorkState::Stopped});
    gate.open();
    service.submit(functionOf([](Workplace&, const std::stop_token&) {})).wait();
    QVERIFY(!hasBegun);
    QCOMPARE(told.size(), std::size_t{1});
  }

  /// A run of another session that is taken out of the queue no longer holds up those of this one.
  void whatWasStoppedHoldsNobodyUp() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    RunSettings small = tinySettings();
    small.blockSize = 8;
    const auto first = runOf("Mira lives in Lisbon.", 60);
    const auto second = runOf("Mira lives in Oslo.", 4, small);
    const auto third = runOf("Mira lives in Porto.", 4);
    WorkHandle a = service.submit(first);
    WorkHandle b = service.submit(second);
    WorkHandle c = service.submit(third);
    b.stop();
    gate.open();
    for (const WorkHandle& handle : {a, b, c}) handle.wait();
    QCOMPARE(c.state(), WorkState::Finished);
    QCOMPARE(notes.sessions(), std::size_t{1});
    QVERIFY(!second->result());
    QCOMPARE(second->run(), RunId{0});
    QVERIFY(third->run() > first->run());
  }

  /// Who hears of the first event of a run knows already whose it is.
  void runsAreKnownByTheirNumber() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    const auto run = runOf("Mira lives in Lisbon.", 4);
    service.submit(run).wait();
    QCOMPARE(run->run(), RunId{1});
    const auto later = std::make_shared<RunWork>(
        tinySettings(),
        RunWork::Preparation{.prepare =
                                 [](Workplace&, const retrieve::Watch&) {
                                   return RunWork::Prepared{.plan = planOf("Mira.", 4), .options = {}};
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
    std::vector<WorkHandle> handles;
    int told = 0;
    {
      WorkService service(test::cpuBackends(), notes);
      handles.push_back(service.submit(functionOf([](Workplace&, const std::stop_token& stop) {
        while (!stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      })));
      QTRY_COMPARE(handles.back().state(), WorkState::Working);
      handles.push_back(service.submit(runOf("Mira lives in Lisbon.")));
      handles.push_back(service.submit(functionOf([](Workplace&, const std::stop_token&) {}),
                                       {.changed = [&](WorkState, const std::string&) { ++told; }}));
    }
    for (WorkHandle& handle : handles) {
      handle.wait();
      QCOMPARE(handle.state(), WorkState::Stopped);
      handle.stop();
    }
    QCOMPARE(told, 0);
  }

  /// Whatever comes later finds the cache emptied, also where it begins before what came earlier; what came
  /// earlier and is not overtaken finds it as it was.
  void nothingOvertakesTheClearing() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    service.submit(runOf("Mira lives in Lisbon. Mira plays the cello.", 4)).wait();
    std::map<int, bool> isEmpty;
    const auto look = [&](int number) {
      return functionOf([&isEmpty, number](Workplace& place, const std::stop_token&) {
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
      std::vector<WorkHandle> handles;
      handles.push_back(service.submit(look(1), {.priority = 3}));
      handles.push_back(service.submit(look(2), {.priority = 0}));
      service.clearCache();
      handles.push_back(service.submit(look(3), {.priority = priority}));
      handles.push_back(service.submit(look(4), {.priority = -1}));
      gate.open();
      for (const WorkHandle& handle : handles) handle.wait();
      const bool isOvertaken = priority > 0;
      QCOMPARE(isEmpty, (std::map<int, bool>{{1, false}, {2, isOvertaken}, {3, true}, {4, true}}));
    }
  }

  /// Runs in progress empty the cache themselves; a run that comes later begins beside them.
  void clearingHoldsNobodyUp() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
    Gate gate;
    service.submit(gate.work());
    const auto first = std::make_shared<RunWork>(
        tinySettings(), RunWork::Preparation{.prepare = [](Workplace&, const retrieve::Watch&) {
          plan::Plan plan = *planOf("Mira lives in Lisbon.", 400);
          plan.steps.front().temperature = 5;  // noise ends late
          return RunWork::Prepared{.plan = std::make_shared<const plan::Plan>(std::move(plan)),
                                   .options = runOptionsOf(tinySettings())};
        }});
    const auto second = runOf("Mira lives in Oslo.", 4);
    WorkHandle a = service.submit(first);
    service.clearCache();
    bool wasRunning = false;
    WorkHandle b = service.submit(second, {.changed = [&](WorkState state, const std::string&) {
                                    if (hasEnded(state)) wasRunning = first->run() != 0 && !first->result();
                                  }});
    gate.open();
    b.wait();
    a.stop();
    a.wait();
    QCOMPARE(b.state(), WorkState::Finished);
    QVERIFY(wasRunning);
  }

  void cacheIsClearedBeforeWhatComesLater() {
    Notes notes;
    WorkService service(test::cpuBackends(), notes);
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
  WorkService service(test::cpuBackends(), notes);
  bool isBorrowed = false;
  const auto look = [&isBorrowed](Workplace& place, const std::stop_token&) {
    isBorrowed = place.model()->decoder->own(0);
  };
  WorkHandle opened = service.submit(functionOf([&](Workplace& place, const std::stop_token& stop) {
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
  WorkService service(test::cpuBackends(), notes);
  bool isBorrowed = true;
  WorkHandle loaded = service.submit(functionOf([&](Workplace& place, const std::stop_token& stop) {
    isBorrowed = place.modelFor(tinySettings(), stop).decoder->own(0);
  }));
  loaded.wait();
  loaded.rethrow();
  QVERIFY(!isBorrowed);
}

SPANSCOPE_TEST(tst_work_service, TestWorkService)
#include "tst_work_service.moc"
