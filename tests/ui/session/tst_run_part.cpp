// SPDX-License-Identifier: GPL-3.0-or-later
// What is kept of a run that went on beside others.
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/trace_file.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/run_job.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"
#include "ui/session/run_history.h"
#include "ui/session/run_part.h"
#include "ui/session/trace_store.h"

#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

bool changesPool(const trace::Event& event) {
  return std::visit([]<class T>(const T&) { return trace::Facts<T>::kPool != trace::PoolEffect::None; },
                    event.payload);
}

/// Appends events with numbers that follow each other.
class Session {
 public:
  Session() {
    trace::SessionStarted session;
    session.pool.blockSize = 16;
    session.pool.blocks.resize(4);
    session.pool.freeOrder = {1, 2, 3};
    add(0, 0, session);
  }
  void add(RunId run, RequestId request, trace::Payload payload) {
    ++m_sequence;
    m_store.append({.sequence = m_sequence,
                    .time = static_cast<std::int64_t>(m_sequence) * 1000,
                    .session = 1,
                    .run = run,
                    .request = request,
                    .node = request == 0 ? "" : "g/0",
                    .payload = std::move(payload)});
  }
  void pass(RunId run, std::vector<trace::BatchEntry> entries) {
    add(run, 0, trace::BatchComputed{.entries = std::move(entries), .nanoseconds = 1'000'000});
  }
  const TraceStore& store() const {
    if (!m_store.contradictions().empty()) qFatal("%s", m_store.contradictions().front().message().c_str());
    return m_store;
  }

 private:
  TraceStore m_store;
  std::uint64_t m_sequence = 0;
};

TraceStore storeOf(const std::vector<trace::Event>& events) {
  TraceStore store;
  for (const trace::Event& event : events) store.append(event);
  return store;
}

std::shared_ptr<const plan::Plan> planOf(const std::string& document) {
  const auto parsed = query::parseJson(
      R"({"g":{"model":"m","max_tokens":24,"temperature":0.0,"input":{"cross":[{"system":"You answer."},)"
      R"({"plus":[{"user":")" +
      document + R"("}]},{"user":"Where does Mira live?"}]}}})");
  auto result = plan::makePlan(*parsed.query, {});
  return std::make_shared<const plan::Plan>(std::move(*result.plan));
}

/// Keeps the events of the session.
class Listener final : public workbench::JobContextWatcher {
 public:
  void sessionOpens(const std::shared_ptr<trace::Recorder>& opened) override { recorder = opened; }
  std::shared_ptr<trace::Recorder> recorder;
};

/// Runs that begin at once, in a pool in which they evict what others left.
std::shared_ptr<const TraceStore> runsAtOnce(const std::vector<std::string>& documents) {
  workbench::RunSettings settings;
  settings.threads = 1;
  settings.blockCount = 16;
  Listener listener;
  workbench::JobService service(test::cpuBackends(), listener);
  std::promise<void> gate;
  service.submit(std::make_shared<workbench::FunctionJob>(
      [opened = gate.get_future().share()](workbench::JobContext&, const std::stop_token&) {
        opened.wait();
      }));
  std::vector<workbench::JobHandle> handles;
  for (const std::string& document : documents) {
    handles.push_back(service.submit(std::make_shared<workbench::RunJob>(
        settings, workbench::RunJob::Preparation{
                      .prepare = [document, settings](workbench::JobContext& place, const retrieve::Watch&) {
                        workbench::RunJob::Prepared prepared{.plan = planOf(document),
                                                             .options = workbench::runOptionsOf(settings)};
                        prepared.options.queryJson = R"({"user":")" + document + R"("})";
                        prepared.options.observedLayers = {place.model()->config.layers - 1};
                        return prepared;
                      }})));
  }
  gate.set_value();
  for (const workbench::JobHandle& handle : handles) handle.wait();
  auto store = std::make_shared<TraceStore>();
  std::vector<trace::Event> events;
  listener.recorder->drain(events);
  for (trace::Event& event : events) store->append(std::move(event));
  return store;
}

}  // namespace

class TestRunPart : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// Passes keep the run's own rows, the pool what the other run did to it without saying for what.
  void holdsNothingElseOfARunBesideIt() {
    Session session;
    session.add(1, 0, trace::RunStarted{.queryJson = "{}", .policy = "spans"});
    session.add(1, 1, trace::StepStarted{.step = 0, .copy = 0});
    session.add(1, 1, trace::BlockAllocated{.block = 1, .segment = 0, .virtualIndex = 0});
    session.add(2, 0, trace::RunStarted{.queryJson = "{}", .policy = "prefix"});
    session.add(2, 2, trace::StepStarted{.step = 0, .copy = 0});
    session.add(1, 1, trace::BlockStored{.block = 1, .key = {1, 1}, .parent = {}, .tokens = {7}});
    session.add(1, 1, trace::BlockReleased{.block = 1, .references = 0});
    session.add(2, 2, trace::BlockAllocated{.block = 2, .segment = 0, .virtualIndex = 0});
    session.pass(1, {{.request = 1, .count = 3}, {.request = 2, .count = 5}});
    session.pass(1, {{.request = 1, .count = 1, .decode = true}});
    session.add(1, 1,
                trace::BlockRemoved{.block = 1, .key = {1, 1}, .reason = trace::RemovalReason::Evicted});
    const std::uint64_t removal = session.store().events().back().sequence;
    trace::BlockLookedUp lookup{};
    lookup.reason = trace::MissReason::Evicted;
    lookup.wanted = 1;
    lookup.evictedBy = removal;
    session.add(2, 2, lookup);
    session.add(0, 0, trace::MessageLogged{.severity = Severity::Note, .text = "of the session"});
    session.add(2, 0, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = "b"});
    session.add(1, 0, trace::RunFinished{.outcome = trace::RunOutcome::Finished, .answer = "a"});
    session.add(2, 2, trace::FidelityMeasured{});

    const std::vector<trace::Event> events = runPart(session.store(), 2);
    std::vector<std::string> names;
    for (const trace::Event& event : events) names.emplace_back(trace::eventName(event.payload));
    QCOMPARE(names, (std::vector<std::string>{"session_started", "run_started", "step_started",
                                              "block_stored", "block_released", "block_allocated",
                                              "batch_computed", "block_removed", "block_looked_up",
                                              "message_logged", "run_finished", "fidelity_measured"}));
    for (std::size_t i = 1; i < events.size(); ++i) QCOMPARE(events[i].sequence, events[i - 1].sequence + 1);
    for (const trace::Event& event : events) QVERIFY(event.request == 0 || event.request == 2);
    QCOMPARE(events[3].run, RunId{1});
    QCOMPARE(events[3].node, std::string());
    const auto& pass = std::get<trace::BatchComputed>(events[6].payload);
    QCOMPARE(pass.entries.size(), std::size_t{1});
    QCOMPARE(pass.entries.front().count, 5);
    QCOMPARE(pass.nanoseconds, std::int64_t{1'000'000});
    QCOMPARE(std::get<trace::BlockLookedUp>(events[8].payload).evictedBy, events[7].sequence);
    const TraceStore part = storeOf(events);
    QVERIFY2(part.contradictions().empty(),
             part.contradictions().empty() ? "" : part.contradictions().front().message().c_str());
    QVERIFY(runPart(session.store(), 3).empty());
  }

  /// Runs of an engine, in a pool that is too small for what they leave.
  void isATraceOfItsOwn() {
    std::vector<std::string> documents;
    for (const char* const name : {"Mira", "Tarek", "Priya", "Noor"}) {
      std::string text;
      for (int i = 0; i < 6; ++i) text += std::string(name) + " lives in Lisbon and plays the cello. ";
      documents.push_back(std::move(text));
    }
    documents.push_back(documents.front());
    const std::shared_ptr<const TraceStore> whole = runsAtOnce(documents);
    QVERIFY(whole->contradictions().empty());
    const trace::Progress& all = whole->newest().progress();
    QCOMPARE(all.runs.size(), documents.size());
    QVERIFY(all.evicted > 0);
    const QTemporaryDir folder;
    bool shared = false;
    for (const auto& [run, state] : all.runs) {
      const std::vector<trace::Event> events = runPart(*whole, run);
      const std::string path = folder.filePath(QStringLiteral("%1.trace").arg(run)).toStdString();
      trace::writeTrace(path, events, {.program = "test", .createdAt = 0});
      const TraceStore part = TraceStore::open(path);
      QVERIFY2(part.contradictions().empty(),
               part.contradictions().empty() ? "" : part.contradictions().front().message().c_str());
      const trace::Progress& own = part.newest().progress();
      QCOMPARE(own.runs.size(), std::size_t{1});
      QCOMPARE(own.runs.at(run).answer, state.answer);
      QCOMPARE(own.runs.at(run).requests, state.requests);
      QCOMPARE(own.requests.size(), state.requests.size());
      for (const RequestId request : state.requests) {
        const trace::RequestState& mine = own.requests.at(request);
        const trace::RequestState& its = all.requests.at(request);
        QCOMPARE(mine.text, its.text);
        QCOMPARE(mine.computedTokens, its.computedTokens);
        QCOMPARE(mine.blocks.size(), its.blocks.size());
        QVERIFY(mine.segments == its.segments);
        QVERIFY(mine.complete);
      }
      QVERIFY(ratesOf(part, part.size(), run) == ratesOf(*whole, whole->size(), run));
      for (const trace::Event& event : part.events())
        QVERIFY(event.run == run || event.run == 0 || changesPool(event));
      // The pool at its end is the session's; only who stored a block may be known less well.
      trace::PoolState mine = part.stateAt(part.size()).pool().state();
      trace::PoolState its = whole->stateAt(whole->endOf(run)).pool().state();
      shared = shared || std::any_of(mine.blocks.begin(), mine.blocks.end(), [run](const auto& block) {
                 return block.storedByRun != 0 && block.storedByRun != run && block.storedByRequest == 0;
               });
      for (trace::PoolState* pool : {&mine, &its}) {
        for (trace::BlockState& block : pool->blocks) {
          block.storedByRequest = 0;
          block.storedByNode.clear();
        }
      }
      QVERIFY(mine == its);
    }
    QVERIFY(shared);
  }
};

SPANSCOPE_TEST(tst_run_part, TestRunPart)
#include "tst_run_part.moc"
