// SPDX-License-Identifier: GPL-3.0-or-later
// A service with clients on several threads at once. What they share is what a thread sanitizer is to see.
#include "engine/experiment/fidelity.h"
#include "engine/jobs/attention_replay.h"
#include "engine/jobs/fidelity.h"
#include "engine/jobs/warming.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/run_result.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/run_job.h"
#include "engine/workbench/settings.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::workbench;

namespace {

constexpr int kClients = 3;
constexpr int kRounds = 6;  ///< of each client

RunSettings twoThreads() {
  RunSettings settings;
  settings.threads = 2;
  return settings;
}

std::shared_ptr<const plan::Plan> planOf(const std::string& document) {
  const auto parsed = query::parseJson(
      R"({"g":{"model":"m","max_tokens":8,"temperature":0.0,"input":{"cross":[{"system":"You answer."},)"
      R"({"plus":[{"user":")" +
      document + R"("},{"user":"Tarek has a dog called Biscuit."}]},{"user":"Where does Mira live?"}]}}})");
  auto result = plan::makePlan(*parsed.query, {});
  return std::make_shared<const plan::Plan>(std::move(*result.plan));
}

std::string documentOf(int client, int round) {
  return "Mira lives in town " + std::to_string(client) + ", house " + std::to_string(round % 3) + ".";
}

std::shared_ptr<RunJob> runOf(const std::string& document, std::int32_t priority) {
  const auto prepare = [=](JobContext& place, const retrieve::Watch&) {
    RunJob::Prepared prepared{.plan = planOf(document), .options = runOptionsOf(twoThreads())};
    prepared.options.priority = priority;
    prepared.options.observedLayers = {0, place.model()->config.layers - 1};
    return prepared;
  };
  return std::make_shared<RunJob>(twoThreads(), RunJob::Preparation{.prepare = prepare});
}

/// Keeps the events of the session for every client.
class Reader final : public JobContextWatcher {
 public:
  void sessionOpens(const std::shared_ptr<trace::Recorder>& opened) override {
    const std::lock_guard lock(m_mutex);
    m_recorder = opened;
  }
  /// Gives `replies` the events that it has not seen.
  void read(experiment::FinishedAnswers& answers, std::size_t& seen) {
    const std::lock_guard lock(m_mutex);
    if (m_recorder) m_recorder->drain(m_events);
    for (; seen < m_events.size(); ++seen) answers.take(m_events[seen]);
  }

 private:
  std::mutex m_mutex;
  std::shared_ptr<trace::Recorder> m_recorder;
  std::vector<trace::Event> m_events;
};

/// What came of the works of one client.
struct Outcome {
  std::map<std::string, std::vector<std::string>> answers;  ///< of runs that were not stopped, by document
  std::size_t failed = 0;
  std::size_t replayed = 0;
  std::vector<JobHandle> handles;
};

class Client {
 public:
  Client(JobService& service, Reader& reader, int number)
      : m_service(service), m_reader(reader), m_number(number) {}

  Outcome operator()() {
    for (int round = 0; round < kRounds; ++round) {
      const std::string document = documentOf(m_number, round);
      const auto kept = runOf(document, round % 2);
      const auto dropped = runOf(documentOf(m_number, round + 1), 0);
      const JobHandle keptHandle = submit(kept, m_number % 2);
      JobHandle droppedHandle = submit(dropped, 0);
      if (round == 2) m_service.clearCache();
      if (round % 2 == 1) droppedHandle.stop();
      while (!keptHandle.waitFor(std::chrono::milliseconds(1))) {
        if (kept->run() != 0 && round == 3) droppedHandle.stop();
        m_progress += kept->indexing() ? 1 : 0;
      }
      if (kept->result()) m_outcome.answers[document].push_back(kept->result()->answer);
      lookBack(kept->run(), round);
    }
    for (const JobHandle& handle : m_outcome.handles) handle.wait();
    for (const JobHandle& handle : m_outcome.handles)
      m_outcome.failed += handle.state() == JobState::Failed ? 1 : 0;
    return std::move(m_outcome);
  }

 private:
  JobHandle submit(std::shared_ptr<Job> work, std::int32_t priority) {
    JobHandle handle = m_service.submit(
        std::move(work),
        {.priority = priority, .changed = [this](auto, const auto&) { m_progress.fetch_add(1); }});
    m_outcome.handles.push_back(handle);
    return handle;
  }

  /// Replays and measures what the run gave, and warms a text.
  void lookBack(RunId run, int round) {
    m_reader.read(m_answers, m_seen);
    for (run::FinishedAnswer& answer : m_answers.takeRun(run)) {
      ++m_outcome.replayed;
      const auto measured = std::make_shared<jobs::FidelityJob>(std::vector{answer});
      submit(std::make_shared<jobs::AttentionReplayJob>(
                 jobs::ReplayChoice{.request = answer.request, .layer = 1}, answer),
             0);
      if (round % 3 == 0) submit(measured, 0).waitFor(std::chrono::milliseconds(1));
      m_progress += static_cast<int>(measured->measured());
    }
    if (round != 1) return;
    const auto warming = std::make_shared<jobs::MeasuringJob<jobs::WarmingJob>>(
        jobs::WarmingChoice{{"The lamp gave little light."}},
        jobs::JobInput{.settings = twoThreads(), .read = [](const std::string& text) { return text; }});
    const JobHandle handle = submit(warming, 0);
    while (!handle.waitFor(std::chrono::milliseconds(1)))
      m_progress += static_cast<int>(warming->found()->warmed.size());
  }

  JobService& m_service;
  Reader& m_reader;
  int m_number;
  experiment::FinishedAnswers m_answers;
  std::size_t m_seen = 0;  ///< of the reader's events
  std::atomic<int> m_progress = 0;
  Outcome m_outcome;
};

}  // namespace

class TestManyClients : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void workOfManyClientsEndsAsItDoesAlone() {
    Reader reader;
    std::vector<Outcome> outcomes(kClients);
    {
      JobService service(test::cpuBackends(), reader);
      std::vector<std::thread> threads;
      for (int number = 0; number < kClients; ++number) {
        threads.emplace_back(
            [&, number] { outcomes[static_cast<std::size_t>(number)] = Client(service, reader, number)(); });
      }
      for (std::thread& thread : threads) thread.join();
    }
    Reader quiet;
    JobService service(test::cpuBackends(), quiet);
    std::size_t replayed = 0;
    for (const Outcome& outcome : outcomes) {
      QCOMPARE(outcome.failed, std::size_t{0});
      QCOMPARE(outcome.answers.size(), std::size_t{3});
      replayed += outcome.replayed;
      for (const auto& [document, answers] : outcome.answers) {
        const auto alone = runOf(document, 0);
        service.submit(alone).wait();
        for (const std::string& answer : answers) QCOMPARE(answer, alone->result()->answer);
      }
    }
    QVERIFY(replayed > 0);
  }

  /// A service that ends takes no client with it, whatever they are about to do.
  void handlesOutliveTheService() {
    Reader reader;
    std::vector<JobHandle> handles;
    std::vector<std::thread> threads;
    {
      JobService service(test::cpuBackends(), reader);
      for (int number = 0; number < 6; ++number)
        handles.push_back(service.submit(runOf(documentOf(number, 0), number % 3), {.priority = number % 2}));
      for (const JobHandle& handle : handles) {
        threads.emplace_back([own = handle]() mutable {
          own.waitFor(std::chrono::milliseconds(5));
          own.stop();
          own.wait();
        });
      }
      handles.front().waitFor(std::chrono::milliseconds(5));
    }
    for (std::thread& thread : threads) thread.join();
    for (const JobHandle& handle : handles) QVERIFY(hasEnded(handle.state()));
  }
};

SPANSCOPE_TEST(tst_many_clients, TestManyClients)
#include "tst_many_clients.moc"
