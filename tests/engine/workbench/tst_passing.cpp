// SPDX-License-Identifier: GPL-3.0-or-later
// Runs pass works that measure, between two measured pieces. Works are submitted from within others, on the
// service's thread, so that what waits at a place is known.
#include "engine/experiment/experiment.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/experiment.h"
#include "engine/jobs/policy_comparison.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/run_job.h"
#include "engine/workbench/settings.h"
#include "tests/support/backends.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::workbench;

namespace {

RunSettings oneThread() {
  RunSettings settings;
  settings.threads = 1;
  return settings;
}

std::string queryText(const std::string& document, int tokens) {
  return R"({"g":{"model":"m","max_tokens":)" + std::to_string(tokens) +
         R"(,"temperature":0.0,"input":{"cross":[{"system":"You answer."},{"plus":[{"user":")" + document +
         R"("},{"user":"The river is wide."}]},{"user":"Where does Mira live?"}]}}})";
}

query::Node queryOf(const std::string& document, int tokens = 8) {
  return *query::parseJson(queryText(document, tokens)).query;
}

std::shared_ptr<RunJob> runOf(const std::string& document, RunSettings settings = oneThread(),
                              int tokens = 8) {
  const auto prepare = [=](JobContext&, const retrieve::Watch&) {
    auto made = plan::makePlan(queryOf(document, tokens), {});
    return RunJob::Prepared{.plan = std::make_shared<const plan::Plan>(std::move(*made.plan)),
                            .options = runOptionsOf(settings)};
  };
  return std::make_shared<RunJob>(settings, RunJob::Preparation{.prepare = prepare});
}

using BenchmarkJob = jobs::MeasuringJob<jobs::BenchmarkJob>;
using PolicyComparisonJob = jobs::MeasuringJob<jobs::PolicyComparisonJob>;
using ExperimentJob = jobs::MeasuringJob<jobs::ExperimentJob>;

/// What a job gets that measures this query.
jobs::JobInput inputOf(query::Node query) {
  return {.settings = oneThread(), .plan = document::planOptionsOf(oneThread()), .query = std::move(query)};
}

/// A job that measures in pieces. A test writes each piece.
class Pieces final : public Job {
 public:
  using Piece = std::function<void(JobContext& place)>;
  explicit Pieces(std::vector<Piece> pieces) : m_pieces(std::move(pieces)) {}

  Begun begin(JobContext& place, const std::stop_token& stop) override {
    for (const Piece& piece : m_pieces) {
      if (stop.stop_requested()) return Begun::Done;
      piece(place);
      letPass();
    }
    return Begun::Done;
  }

 private:
  std::vector<Piece> m_pieces;
};

/// Submits a run at the first progress of a work that measures, and notes where the work was then and when
/// the run had ended.
template <class Measured>
struct Passed {
  JobHandle run;
  bool hadBegun = false;   ///< the work, when the run was submitted
  bool goesOn = false;     ///< the work, when the run had ended
  std::int64_t found = 0;  ///< tokens that the run found in its cache

  void measure(const std::shared_ptr<Measured>& work) {
    JobContextWatcher nobody;
    JobService service(test::cpuBackends(), nobody);
    service.submit(runOf("Mira lives in Lisbon.")).wait();
    const std::shared_ptr<RunJob> later = runOf("Mira lives in Lisbon.");
    JobHandle handle;
    const auto submit = [&](JobState state, const std::string&) {
      if (hadBegun || state != JobState::Working || !isMeasuring(*work)) return;
      hadBegun = true;
      run = service.submit(later, {.changed = [&](JobState now, const std::string&) {
                             if (hasEnded(now)) goesOn = handle.state() == JobState::Working;
                           }});
    };
    // Events before the handle exists are sent while this one waits.
    std::promise<void> ready;
    service.submit(std::make_shared<FunctionJob>(
        [&](JobContext&, const std::stop_token&) { ready.get_future().wait(); }));
    handle = service.submit(work, {.changed = submit});
    ready.set_value();
    handle.wait();
    QCOMPARE(handle.problem(), std::string());
    QCOMPARE(handle.state(), JobState::Finished);
    run.wait();
    if (later->result()) found = later->result()->steps.front().metrics.cachedTokens;
  }

  static bool isMeasuring(const ExperimentJob& work) { return work.found()->total > 0; }
  static bool isMeasuring(const BenchmarkJob& work) { return !work.found()->model.empty(); }
  static bool isMeasuring(const PolicyComparisonJob& work) { return !work.found()->model.empty(); }
};

}  // namespace

class TestPassing : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// A run begins at the next seam and not within a piece. Other works wait until the end.
  void runsPassAtTheNextSeam() {
    JobContextWatcher nobody;
    JobService service(test::cpuBackends(), nobody);
    RunSettings small = oneThread();
    small.blockSize = 8;
    const auto first = runOf("Mira lives in Lisbon.");
    const auto second = runOf("Mira lives in Oslo.", small);
    JobHandle a;
    JobHandle b;
    JobHandle other;
    std::vector<std::string> order;
    const auto note = [&](const char* what) {
      return std::make_shared<FunctionJob>(
          [&order, what](JobContext&, const std::stop_token&) { order.emplace_back(what); });
    };
    std::vector<JobState> within;
    const auto pieces = std::make_shared<Pieces>(std::vector<Pieces::Piece>{
        [&](JobContext&) {
          order.emplace_back("piece 1");
          other = service.submit(note("other"));
          a = service.submit(first, {.changed = [&](JobState state, const std::string&) {
                               if (hasEnded(state)) order.emplace_back("run");
                             }});
          b = service.submit(second, {.changed = [&](JobState state, const std::string&) {
                               if (hasEnded(state)) order.emplace_back("run of another session");
                             }});
          within = {a.state(), b.state()};
        },
        [&](JobContext&) { order.emplace_back("piece 2"); }});
    service.submit(pieces).wait();
    other.wait();
    QCOMPARE(within, (std::vector{JobState::Waiting, JobState::Waiting}));
    QCOMPARE(order,
             (std::vector<std::string>{"piece 1", "run", "run of another session", "piece 2", "other"}));
    QCOMPARE(a.state(), JobState::Finished);
    QCOMPARE(b.state(), JobState::Finished);
  }

  /// What was asked to be emptied before is empty for the run that passes.
  void clearingPassesToo() {
    JobContextWatcher nobody;
    JobService service(test::cpuBackends(), nobody);
    const auto first = runOf("Mira lives in Lisbon.");
    const auto second = runOf("Mira lives in Lisbon.");
    service.submit(first).wait();
    JobHandle run;
    service
        .submit(std::make_shared<Pieces>(std::vector<Pieces::Piece>{[&](JobContext&) {
          service.clearCache();
          run = service.submit(second);
        }}))
        .wait();
    run.wait();
    QCOMPARE(second->result()->steps.front().metrics.cachedTokens, std::int64_t{0});
  }

  /// A stop ends the work that measures at once, and the run that passes goes on.
  void aStopNeedNotWaitForARunThatPasses() {
    JobContextWatcher nobody;
    JobService service(test::cpuBackends(), nobody);
    const auto run = runOf("Mira lives in Lisbon.", oneThread(), 60);
    JobHandle measured;
    JobHandle passing;
    bool wasRunning = false;
    std::promise<void> ready;
    service.submit(std::make_shared<FunctionJob>(
        [&](JobContext&, const std::stop_token&) { ready.get_future().wait(); }));
    const auto pieces = std::make_shared<Pieces>(std::vector<Pieces::Piece>{
        [&](JobContext&) {
          passing = service.submit(run, {.changed = [&](JobState state, const std::string&) {
                                     if (state == JobState::Working) measured.stop();
                                   }});
        },
        [](JobContext&) { QFAIL("a piece after the stop"); }});
    measured = service.submit(pieces, {.changed = [&](JobState state, const std::string&) {
                                if (hasEnded(state)) wasRunning = run->run() != 0 && !run->result();
                              }});
    ready.set_value();
    measured.wait();
    passing.wait();
    QCOMPARE(measured.state(), JobState::Stopped);
    QVERIFY(wasRunning);
    QCOMPARE(passing.state(), JobState::Finished);
  }

  /// The service ends while a run passes.
  void theServiceEndsMeanwhile() {
    JobHandle measured;
    JobHandle passing;
    std::promise<void> begun;
    JobContextWatcher nobody;
    const auto run = runOf("Mira lives in Lisbon.", oneThread(), 400);
    {
      JobService service(test::cpuBackends(), nobody);
      measured = service.submit(std::make_shared<Pieces>(std::vector<Pieces::Piece>{[&](JobContext&) {
        passing = service.submit(run, {.changed = [&](JobState state, const std::string&) {
                                   if (state == JobState::Working) begun.set_value();
                                 }});
      }}));
      begun.get_future().wait();
    }
    measured.wait();
    passing.wait();
    QVERIFY(hasEnded(measured.state()));
    QVERIFY(hasEnded(passing.state()));
  }

  /// The run finds its cache as it left it, and the work goes on measuring afterwards.
  void runsPassAnExperiment() {
    Passed<ExperimentJob> passed;
    const auto work = std::make_shared<ExperimentJob>(
        experiment::ExperimentRequest{
            .experiment = "rag",
            .values = {{"documents", "1,2"}, {"words", "12"}, {"policies", "spans"}},
            .repeats = 2},
        inputOf({}));
    passed.measure(work);
    QVERIFY(passed.hadBegun && passed.goesOn);
    QVERIFY(passed.found > 0);
    const experiment::ExperimentResult result = *work->found();
    QCOMPARE(result.done, result.total);
    for (const experiment::ExperimentPoint& point : result.points) {
      QCOMPARE(point.samples[1].size(), std::size_t{2});
      // Nothing of the run is in the caches of the experiment.
      if (point.series == "spans, empty cache") QCOMPARE(point.samples[1], (std::vector<double>{0, 0}));
    }
  }

  void runsPassEveryExperiment_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("field");
    QTest::addColumn<QString>("value");
    const auto row = [](const char* name, const char* field, const char* value) {
      QTest::newRow(name) << QString(name) << QString(field) << QString(value);
    };
    // One place and one line each, so that the run passes between its repeats.
    row("relocation", "tokens", "16");
    row("locality", "hay", "0");
    row("depth", "hay", "0");
    row("cropping", "sizes", "16");
    row("load", "tokens", "16");
    row("fidelity", "documents", "3");
  }
  void runsPassEveryExperiment() {
    QFETCH(const QString, name);
    QFETCH(const QString, field);
    QFETCH(const QString, value);
    experiment::ExperimentRequest request{.experiment = name.toStdString(), .values = {}, .repeats = 2};
    request.values[field.toStdString()] = value.toStdString();
    Passed<ExperimentJob> passed;
    passed.measure(std::make_shared<ExperimentJob>(request, inputOf({})));
    QVERIFY(passed.hadBegun && passed.goesOn);
  }

  /// The run is on another model, which takes the place of the measured one at the workplace.
  void theMeasuredModelStays() {
    JobContextWatcher nobody;
    JobService service(test::cpuBackends(), nobody);
    RunSettings other = oneThread();
    other.threads = 2;
    JobHandle run;
    std::shared_ptr<ExperimentJob> work = std::make_shared<ExperimentJob>(
        experiment::ExperimentRequest{
            .experiment = "rag",
            .values = {{"documents", "1,2"}, {"words", "12"}, {"policies", "spans"}},
            .repeats = 1},
        inputOf({}));
    bool isSubmitted = false;
    JobHandle handle = service.submit(work, {.changed = [&](JobState state, const std::string&) {
                                        if (isSubmitted || state != JobState::Working) return;
                                        isSubmitted = true;
                                        run = service.submit(runOf("Mira lives in Oslo.", other));
                                      }});
    handle.wait();
    run.wait();
    QCOMPARE(handle.state(), JobState::Finished);
    QCOMPARE(run.state(), JobState::Finished);
    QCOMPARE(work->found()->points.size(), std::size_t{4});
  }

  void runsPassABenchmark() {
    for (const jobs::BenchmarkKind kind : {jobs::BenchmarkKind::Query, jobs::BenchmarkKind::Lengths}) {
      Passed<BenchmarkJob> passed;
      passed.measure(std::make_shared<BenchmarkJob>(jobs::BenchmarkChoice{.kind = kind, .repeats = 1},
                                                    inputOf(queryOf("Mira lives in Porto."))));
      QVERIFY(passed.hadBegun && passed.goesOn);
      QVERIFY(passed.found > 0);
    }
  }

  void runsPassAComparisonOfPolicies() {
    Passed<PolicyComparisonJob> passed;
    passed.measure(std::make_shared<PolicyComparisonJob>(jobs::PolicyChoice{.policies = {"spans", "prefix"}},
                                                         inputOf(queryOf("Mira lives in Porto."))));
    QVERIFY(passed.hadBegun && passed.goesOn);
    QVERIFY(passed.found > 0);
  }
};

SPANSCOPE_TEST(tst_passing, TestPassing)
#include "tst_passing.moc"
