// SPDX-License-Identifier: GPL-3.0-or-later
// The kinds of job beside runs: their progress events, the state that they leave unchanged, and their ends.
#include "engine/base/error.h"
#include "engine/experiment/fidelity.h"
#include "engine/jobs/attention_replay.h"
#include "engine/jobs/bench_jobs.h"
#include "engine/jobs/benchmark.h"
#include "engine/jobs/experiment.h"
#include "engine/jobs/fidelity.h"
#include "engine/jobs/log_quality.h"
#include "engine/jobs/next_token.h"
#include "engine/jobs/pair_vectors.h"
#include "engine/jobs/policy_comparison.h"
#include "engine/jobs/probe.h"
#include "engine/jobs/warming.h"
#include "engine/plan/plan.h"
#include "engine/plan/planner.h"
#include "engine/query/json/json.h"
#include "engine/run/run_result.h"
#include "engine/workbench/document/plan_options.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/service/job_context.h"
#include "engine/workbench/service/job_service.h"
#include "engine/workbench/service/run_job.h"
#include "engine/workbench/settings.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QDirIterator>
#include <QFile>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::workbench;
using spanscope::product_text::worded;

namespace {

query::Node queryOf(const QString& example) {
  QFile file(QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/") + example);
  if (!file.open(QIODevice::ReadOnly)) return {};
  return query::parseJson(file.readAll().toStdString()).query.value_or(query::Node{});
}

RunSettings oneThread() {
  RunSettings settings;
  settings.threads = 1;
  return settings;
}

/// Keeps the recorder of the newest session, from the service's thread.
class Newest final : public JobContextWatcher {
 public:
  void sessionOpens(const std::shared_ptr<trace::Recorder>& opened) override {
    recorder = opened;
    ++sessions;
  }
  std::vector<trace::Event> events() const {
    std::vector<trace::Event> found;
    if (recorder) recorder->drain(found);
    return found;
  }
  std::shared_ptr<trace::Recorder> recorder;
  int sessions = 0;
};

struct Bench {
  Newest newest;
  JobService service{test::cpuBackends(), newest};

  /// Runs a job to its end; `told` is called for each event.
  JobHandle finish(std::shared_ptr<Job> work, std::function<void(JobState)> reported = {}) {
    JobHandle handle = service.submit(
        std::move(work), {.changed = [reported = std::move(reported)](JobState state, const std::string&) {
          if (reported) reported(state);
        }});
    handle.wait();
    return handle;
  }

  std::shared_ptr<RunJob> run(const QString& example) {
    const auto work = std::make_shared<RunJob>(
        oneThread(), RunJob::Preparation{.prepare = [example](JobContext&, const retrieve::Watch&) {
          auto made = plan::makePlan(queryOf(example), {});
          return RunJob::Prepared{.plan = std::make_shared<const plan::Plan>(std::move(*made.plan)),
                                  .options = runOptionsOf(oneThread())};
        }});
    finish(work);
    return work;
  }

  /// The answers of a run whose events were not drained yet.
  std::vector<run::FinishedAnswer> answers(RunId run) const {
    experiment::FinishedAnswers gathered;
    for (const trace::Event& event : newest.events()) gathered.take(event);
    return gathered.takeRun(run);
  }
};

using jobs::Benchmark;
using jobs::ComparedAnswer;
using jobs::MeasuredPolicy;
using jobs::PolicyComparison;
using jobs::PolicyStage;
using BenchmarkJob = jobs::MeasuringJob<jobs::BenchmarkJob>;
using PolicyComparisonJob = jobs::MeasuringJob<jobs::PolicyComparisonJob>;
using ExperimentJob = jobs::MeasuringJob<jobs::ExperimentJob>;
using WarmingJob = jobs::MeasuringJob<jobs::WarmingJob>;

/// Two requests whose system message has the time.
std::string timedLog() {
  std::string text;
  for (const std::string hour : {"09", "17"})
    text +=
        "{\"messages\":[{\"role\":\"system\",\"content\":\"It is " + hour +
        ":04. You are a travel assistant.\"},{\"role\":\"user\",\"content\":\"Which train is fast?\"}]}\n";
  return text;
}

/// What a job gets that measures this query.
jobs::JobInput inputOf(query::Node query, RunSettings settings = oneThread()) {
  return {.settings = settings, .plan = document::planOptionsOf(settings), .query = std::move(query)};
}

std::shared_ptr<BenchmarkJob> benchmarkOf(const QString& example, std::int32_t repeats,
                                          RunSettings settings = oneThread()) {
  return std::make_shared<BenchmarkJob>(jobs::BenchmarkChoice{.repeats = repeats},
                                        inputOf(queryOf(example), std::move(settings)));
}

std::shared_ptr<PolicyComparisonJob> comparisonOf(const QString& example, std::vector<std::string> policies,
                                                  RunSettings settings = oneThread()) {
  return std::make_shared<PolicyComparisonJob>(jobs::PolicyChoice{.policies = std::move(policies)},
                                               inputOf(queryOf(example), std::move(settings)));
}

/// The result in the trace of the job that ended last; nothing: there is none, or it cannot be shown.
template <class Kind>
std::optional<typename Kind::Result> resultIn(const std::vector<trace::Event>& events,
                                              trace::JobOutcome outcome) {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    const auto* ended = std::get_if<trace::JobEnded>(&event->payload);
    if (ended == nullptr || ended->kind != Kind::kId || ended->outcome != outcome) continue;
    const std::shared_ptr<const void> read = jobs::findJob(Kind::kId)->readResult(ended->result);
    if (!read) return std::nullopt;
    return *std::static_pointer_cast<const typename Kind::Result>(read);
  }
  return std::nullopt;
}

template <class T>
int countOf(const std::vector<trace::Event>& events) {
  int count = 0;
  for (const trace::Event& event : events) count += std::holds_alternative<T>(event.payload) ? 1 : 0;
  return count;
}

}  // namespace

class TestWorks : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void fidelityIsToldAnswerByAnswer() {
    Bench bench;
    const RunId run = bench.run(QStringLiteral("judge-2.json"))->run();
    const std::vector<run::FinishedAnswer> answers = bench.answers(run);
    QVERIFY(answers.size() > 1);
    const auto work = std::make_shared<jobs::FidelityJob>(answers);
    std::vector<std::size_t> measured;
    std::vector<double> shares;
    const JobHandle handle = bench.finish(work, [&](JobState state) {
      if (hasEnded(state)) return;
      measured.push_back(work->measured());
      shares.push_back(work->share());
    });
    QCOMPARE(handle.state(), JobState::Finished);
    QCOMPARE(work->measured(), answers.size());
    QVERIFY(measured.size() > answers.size() + 1);
    QCOMPARE(measured.front(), std::size_t{0});
    QVERIFY(std::is_sorted(measured.begin(), measured.end()));
    QVERIFY(std::is_sorted(shares.begin(), shares.end()));
    QCOMPARE(shares.back(), 1.0);
    QCOMPARE(countOf<trace::FidelityMeasured>(bench.newest.events()), static_cast<int>(answers.size()));
  }

  /// The alternatives of each token have the figures that fidelity has of it.
  void alternativesAgreeWithFidelity() {
    Bench bench;
    const RunId run = bench.run(QStringLiteral("rag.json"))->run();
    const run::FinishedAnswer answer = bench.answers(run).front();
    const auto fidelity = std::make_shared<jobs::FidelityJob>(std::vector{answer});
    QCOMPARE(bench.finish(fidelity).state(), JobState::Finished);
    const auto work = std::make_shared<jobs::AnswerJob<jobs::NextTokenJob>>(
        jobs::NextTokenChoice{.request = answer.request}, std::vector{answer});
    QCOMPARE(bench.finish(work).problem(), std::string());
    const std::vector<trace::FidelityToken>& measured = fidelity->found().front().answer.fidelity.tokens;
    QCOMPARE(work->found().size(), measured.size());
    for (std::size_t i = 0; i < measured.size(); ++i) {
      const jobs::NextToken& token = work->found()[i];
      QCOMPARE(token.drawn, measured[i].token);
      QCOMPARE(token.divergence, measured[i].divergence);
      QCOMPARE(token.ownBest, measured[i].policyBest);
      QCOMPARE(token.otherBest, measured[i].fullBest);
      QVERIFY(token.find(token.drawn) != nullptr && token.find(token.otherBest) != nullptr);
      QCOMPARE(token.find(token.drawn)->own, measured[i].policyProbability);
      QCOMPARE(token.find(token.drawn)->other, measured[i].fullProbability);
      double sum = 0;
      for (const jobs::Alternative& each : token.alternatives) sum += each.own;
      QVERIFY(sum > 0.1 && sum < 1.0 + 1e-9);
    }
    // Beside itself, an answer has the same figures twice.
    const auto same = std::make_shared<jobs::AnswerJob<jobs::NextTokenJob>>(
        jobs::NextTokenChoice{.request = answer.request, .other = answer.request},
        std::vector{answer, answer});
    QCOMPARE(bench.finish(same).state(), JobState::Finished);
    for (const jobs::NextToken& token : same->found()) {
      QCOMPARE(token.divergence, 0.0);
      for (const jobs::Alternative& each : token.alternatives) QCOMPARE(each.own, each.other);
    }
  }

  /// The query and the key of two tokens; the cache stays as it is.
  void turnsLeaveTheSessionAlone() {
    Bench bench;
    const RunId run = bench.run(QStringLiteral("rag.json"))->run();
    const run::FinishedAnswer answer = bench.answers(run).front();
    const auto last = static_cast<std::uint32_t>(answer.segments.size() - 1);
    const auto end = static_cast<std::int32_t>(answer.segments.back().tokens.size());
    // A token of the answer, and one of the first document.
    const jobs::PairChoice choice{.request = answer.request, .query = {last, end}, .key = {1, 2}};
    const auto work = std::make_shared<jobs::AnswerJob<jobs::PairVectorsJob>>(choice, std::vector{answer});
    QCOMPARE(bench.finish(work).problem(), std::string());
    QVERIFY(!work->found().layers.empty());
    QVERIFY(work->found().weight(0, 0) > 0 && work->found().weight(0, 0) < 1);
    const std::vector<trace::Event> reported = bench.newest.events();
    QCOMPARE(reported.size(), std::size_t{1});
    QCOMPARE(reported.front().request, answer.request);
    const auto& ended = std::get<trace::JobEnded>(reported.front().payload);
    QCOMPARE(ended.kind, std::string(jobs::PairVectorsJob::kId));
    QVERIFY(trace::unpack<jobs::PairChoice>(ended.arguments) == choice);
    const auto read = trace::unpack<run::PairVectors>(ended.result);
    QVERIFY(read && jobs::PairVectorsJob::isSound(*read));
    QCOMPARE(read->queries, work->found().queries);
    QCOMPARE(read->weights, work->found().weights);
    // What a damaged file may say is not shown.
    run::PairVectors damaged = *read;
    damaged.keys.pop_back();
    QVERIFY(!jobs::PairVectorsJob::isSound(damaged));
    const auto unseen = std::make_shared<jobs::AnswerJob<jobs::PairVectorsJob>>(
        jobs::PairChoice{.request = answer.request, .query = {2, 0}, .key = {1, 0}}, std::vector{answer});
    QCOMPARE(bench.finish(unseen).state(), JobState::Failed);
    const std::vector<trace::Event> failed = bench.newest.events();
    QCOMPARE(failed.size(), std::size_t{1});
    QVERIFY(std::get<trace::JobEnded>(failed.front().payload).outcome == trace::JobOutcome::Failed);
    QVERIFY(!std::get<trace::JobEnded>(failed.front().payload).problem.empty());
  }

  /// Nothing is computed for an answer of another session, or for a missing answer.
  void replaysAreOfTheSessionThatIsOpen() {
    Bench bench;
    run::FinishedAnswer answer;
    const auto replay = [&answer] {
      return std::make_shared<jobs::AttentionReplayJob>(
          jobs::ReplayChoice{.request = answer.request, .layer = 1}, answer);
    };
    QCOMPARE(bench.finish(replay()).problem(), worded(std::string("<session-gave-answer>")));
    const RunId run = bench.run(QStringLiteral("rag.json"))->run();
    answer = bench.answers(run).front();
    QCOMPARE(bench.finish(replay()).state(), JobState::Finished);
    QCOMPARE(countOf<trace::AttentionReplayed>(bench.newest.events()), 1);
    RunSettings other = oneThread();
    other.blockSize = 8;
    bench.finish(std::make_shared<FunctionJob>(
        [other](JobContext& place, const std::stop_token& stop) { place.sessionFor(other, stop); }));
    QCOMPARE(bench.newest.sessions, 2);
    QCOMPARE(bench.finish(std::make_shared<jobs::FidelityJob>(std::vector{answer})).problem(),
             worded(std::string("<session-gave-answer>")));
  }

  /// A run in progress keeps no replay waiting; a measurement waits for both.
  void replaysGoOnBesideRuns() {
    Bench bench;
    const RunId answered = bench.run(QStringLiteral("rag.json"))->run();
    const run::FinishedAnswer answer = bench.answers(answered).front();
    std::promise<void> gate;
    bench.service.submit(std::make_shared<FunctionJob>(
        [opened = gate.get_future().share()](JobContext&, const std::stop_token&) { opened.wait(); }));
    const auto run = std::make_shared<RunJob>(
        oneThread(), RunJob::Preparation{.prepare = [](JobContext&, const retrieve::Watch&) {
          auto made = plan::makePlan(queryOf(QStringLiteral("chat.json")), {});
          made.plan->steps.resize(1);
          made.plan->steps.front().temperature = 5;  // noise ends late
          made.plan->steps.front().maxTokens = 400;
          return RunJob::Prepared{.plan = std::make_shared<const plan::Plan>(std::move(*made.plan)),
                                  .options = runOptionsOf(oneThread())};
        }});
    JobHandle running = bench.service.submit(run);
    bool wasRunning = false;
    std::vector<JobHandle> handles;
    for (const std::int32_t layer : {1, 2}) {
      handles.push_back(
          bench.service.submit(std::make_shared<jobs::AttentionReplayJob>(
                                   jobs::ReplayChoice{.request = answer.request, .layer = layer}, answer),
                               {.changed = [&](JobState state, const std::string&) {
                                 if (hasEnded(state)) wasRunning = run->run() != 0 && !run->result();
                               }}));
    }
    const auto measured = std::make_shared<jobs::FidelityJob>(std::vector{answer});
    bool hadEnded = false;
    handles.push_back(bench.service.submit(
        measured, {.changed = [&](JobState, const std::string&) { hadEnded = run->result().has_value(); }}));
    gate.set_value();
    handles[1].wait();
    QVERIFY(wasRunning);
    running.stop();
    for (const JobHandle& handle : handles) {
      handle.wait();
      QCOMPARE(handle.problem(), std::string());
      QCOMPARE(handle.state(), JobState::Finished);
    }
    QVERIFY(hadEnded);
    QCOMPARE(countOf<trace::AttentionReplayed>(bench.newest.events()), 2);
  }

  void benchmarksLeaveTheSessionAlone() {
    Bench bench;
    bench.run(QStringLiteral("rag.json"));
    bench.newest.events();
    const auto work = benchmarkOf(QStringLiteral("rag.json"), 2);
    std::vector<std::int32_t> turns;
    const JobHandle handle = bench.finish(work, [&](JobState) { turns.push_back(work->found()->turn); });
    QCOMPARE(handle.problem(), std::string());
    QCOMPARE(handle.state(), JobState::Finished);
    const Benchmark measured = *work->found();
    QCOMPARE(measured.turns.size(), std::size_t(2));
    QCOMPARE(measured.model, std::string("spanlet"));
    QCOMPARE(measured.blockCount, RunSettings().blockCount);
    QCOMPARE(measured.gaps.size(), experiment::kRunCases.size());
    QCOMPARE(turns.front(), 0);
    QCOMPARE(turns.back(), 2);
    // Of its events, the trace gets the result alone, and the cache is as the run before left it.
    const std::vector<trace::Event> events = bench.newest.events();
    QCOMPARE(events.size(), std::size_t{1});
    const auto kept = resultIn<jobs::BenchmarkJob>(events, trace::JobOutcome::Finished);
    QVERIFY(kept.has_value());
    QCOMPARE(kept->turns.size(), measured.turns.size());
    for (std::size_t turn = 0; turn < measured.turns.size(); ++turn) {
      for (std::size_t i = 0; i < measured.turns[turn].size(); ++i)
        QVERIFY(kept->turns[turn][i]->measured == measured.turns[turn][i]->measured);
    }
    const auto again = bench.run(QStringLiteral("rag.json"));
    QCOMPARE(bench.newest.sessions, 1);
    QCOMPARE(again->result()->steps.front().metrics.computedTokens, 1);
  }

  void benchmarksAreStoppedAndFail() {
    Bench bench;
    const auto stopped = benchmarkOf(QStringLiteral("rag.json"), 100'000);
    JobHandle handle;
    const auto hasTurn = [&stopped] { return !stopped->found()->turns.empty(); };
    handle = bench.service.submit(stopped);
    QVERIFY(QTest::qWaitFor(hasTurn, 60'000));
    handle.stop();
    handle.wait();
    QCOMPARE(handle.state(), JobState::Stopped);
    // It was measured before any session, whose trace then begins with it.
    const auto kept = resultIn<jobs::BenchmarkJob>(bench.newest.events(), trace::JobOutcome::Stopped);
    QVERIFY(kept && !kept->turns.empty());
    QCOMPARE(bench.newest.sessions, 1);
    bench.run(QStringLiteral("rag.json"));
    QCOMPARE(bench.newest.sessions, 1);

    RunSettings small = oneThread();
    small.blockCount = 4;
    const JobHandle failed = bench.finish(benchmarkOf(QStringLiteral("rag.json"), 1, small));
    QCOMPARE(failed.state(), JobState::Failed);
    QVERIFY(!failed.problem().empty());
    RunSettings nowhere = oneThread();
    nowhere.model = "/nowhere";
    const JobHandle missing = bench.finish(benchmarkOf(QStringLiteral("rag.json"), 1, nowhere));
    QCOMPARE(missing.state(), JobState::Failed);
    QVERIFY(missing.problem().find("/nowhere") != std::string::npos);
    // What was wrong with one is not with the next.
    QCOMPARE(bench.finish(benchmarkOf(QStringLiteral("chat.json"), 1)).state(), JobState::Finished);
  }

  /// Only prefix is exact, and only policies that compute documents apart find them in another order.
  void policiesAreComparedSideBySide() {
    Bench bench;
    bench.run(QStringLiteral("rag.json"));
    bench.newest.events();
    const auto work = comparisonOf(QStringLiteral("rag.json"), {"spans", "prefix", "blend(0.15)"});
    std::vector<double> progress;
    const JobHandle handle =
        bench.finish(work, [&](JobState) { progress.push_back(work->found()->progress()); });
    QCOMPARE(handle.problem(), std::string());
    QCOMPARE(handle.state(), JobState::Finished);
    const PolicyComparison compared = *work->found();
    QCOMPARE(compared.model, std::string("spanlet"));
    QVERIFY(compared.isReordered);
    QCOMPARE(compared.policies.size(), std::size_t(3));
    for (const MeasuredPolicy& policy : compared.policies) {
      QVERIFY2(policy.stage == PolicyStage::Done, policy.policy.c_str());
      QCOMPARE(policy.problem, std::string());
      QVERIFY(!policy.answer.empty());
      QCOMPARE(policy.cold->prompt.cached(), 0);
      QVERIFY(policy.cold->firstToken > 0 && policy.reordered->firstToken > 0);
      QVERIFY(policy.cold->prompt.total() > 0);
      QCOMPARE(policy.reordered->prompt.total(), policy.cold->prompt.total());
      QVERIFY(policy.cacheBytes > 0);
      QCOMPARE(policy.answers.size(), std::size_t(1));
      const ComparedAnswer& answer = policy.answers.front();
      QVERIFY(!answer.fidelity.tokens.empty());
      QCOMPARE(answer.texts.size(), answer.fidelity.tokens.size());
      QCOMPARE(answer.fullTexts.size(), answer.fidelity.tokens.size());
    }
    const MeasuredPolicy& spans = compared.policies[0];
    const MeasuredPolicy& prefix = compared.policies[1];
    const MeasuredPolicy& blend = compared.policies[2];
    QCOMPARE(prefix.fidelity()->mostDivergence, 0.0);
    QCOMPARE(prefix.fidelity()->agreement(), 1.0);
    QVERIFY(spans.fidelity()->mostDivergence > 0);
    QVERIFY(spans.reordered->prompt.relocated > 0);
    QVERIFY(spans.reordered->prompt.cached() > prefix.reordered->prompt.cached());
    QCOMPARE(spans.reordered->prompt.again, 0);
    QVERIFY(blend.reordered->prompt.again > 0);
    // What prefix does not find it stores once more.
    QVERIFY(prefix.cacheBytes > spans.cacheBytes);
    QVERIFY(std::is_sorted(progress.begin(), progress.end()));
    QVERIFY(progress.front() == 0 && progress[progress.size() / 2] > 0);
    // Of its events, the trace gets the result alone, and the cache is as the run before left it.
    const std::vector<trace::Event> events = bench.newest.events();
    QCOMPARE(events.size(), std::size_t{1});
    const auto kept = resultIn<jobs::PolicyComparisonJob>(events, trace::JobOutcome::Finished);
    QVERIFY(kept.has_value());
    QCOMPARE(kept->policies.size(), compared.policies.size());
    for (std::size_t i = 0; i < compared.policies.size(); ++i) {
      QCOMPARE(kept->policies[i].answer, compared.policies[i].answer);
      QVERIFY(kept->policies[i].reordered->prompt == compared.policies[i].reordered->prompt);
      QVERIFY(kept->policies[i].answers.front().fidelity == compared.policies[i].answers.front().fidelity);
    }
    QCOMPARE(bench.newest.sessions, 1);
    QCOMPARE(bench.run(QStringLiteral("rag.json"))->result()->steps.front().metrics.computedTokens, 1);
  }

  /// Answers that are drawn by chance differ under equal policies too.
  void policiesAreComparedAtTemperatureZero() {
    for (const bool isSet : {false, true}) {
      Bench bench;
      query::Node query = queryOf(QStringLiteral("rag.json"));
      query::GenerateSettings* const settings = query::settingsOf(query);
      QVERIFY(settings != nullptr);
      settings->temperature = query::Absent{};
      if (isSet) settings->temperature = 1.F;
      const auto work = std::make_shared<PolicyComparisonJob>(jobs::PolicyChoice{.policies = {"prefix"}},
                                                              inputOf(std::move(query)));
      QCOMPARE(bench.finish(work).state(), JobState::Finished);
      const PolicyComparison compared = *work->found();
      QCOMPARE(compared.chosenTemperature, !isSet);
      QCOMPARE(compared.policies.front().fidelity()->sampledSteps > 0, isSet);
    }
  }

  void whatIsWrongWithOnePolicyLeavesTheOthers() {
    Bench bench;
    const auto work =
        comparisonOf(QStringLiteral("chat.json"), {"no such policy", "prefix", "blend(0.15,layer=900)"});
    QCOMPARE(bench.finish(work).state(), JobState::Finished);
    const PolicyComparison compared = *work->found();
    QVERIFY(!compared.isReordered);
    QVERIFY(compared.policies[0].stage == PolicyStage::Failed);
    QVERIFY(compared.policies[0].problem.find("no such policy") != std::string::npos);
    QVERIFY(compared.policies[1].stage == PolicyStage::Done);
    QVERIFY(compared.policies[1].reordered->prompt.cached() > 0);
    QVERIFY(compared.policies[2].stage == PolicyStage::Failed);
    QVERIFY(!compared.policies[2].problem.empty());
    QCOMPARE(compared.progress(), 1.0);

    RunSettings nowhere = oneThread();
    nowhere.model = "/nowhere";
    const JobHandle missing = bench.finish(comparisonOf(QStringLiteral("rag.json"), {"prefix"}, nowhere));
    QCOMPARE(missing.state(), JobState::Failed);
    QVERIFY(missing.problem().find("/nowhere") != std::string::npos);
  }

  void comparedPoliciesStandAfterAStop() {
    Bench bench;
    const auto work = comparisonOf(QStringLiteral("rag.json"), std::vector<std::string>(500, "spans"));
    JobHandle handle = bench.service.submit(work);
    QVERIFY(QTest::qWaitFor([&work] { return work->found()->policies.front().stage == PolicyStage::Done; },
                            60'000));
    handle.stop();
    handle.wait();
    QCOMPARE(handle.state(), JobState::Stopped);
    const PolicyComparison compared = *work->found();
    QVERIFY(compared.policies.front().reordered.has_value());
    QVERIFY(compared.policies.back().stage == PolicyStage::Waiting);
    QVERIFY(std::none_of(compared.policies.begin(), compared.policies.end(),
                         [](const MeasuredPolicy& policy) { return policy.stage == PolicyStage::Failed; }));
  }

  void lengthsThatFitAreMeasured() {
    const std::vector<std::int32_t> few = jobs::measurableLengths(500);
    QVERIFY((few == std::vector<std::int32_t>{64, 128}));
    QCOMPARE(jobs::measurableLengths(1'000'000).back(), 4096);
    Bench bench;
    const auto work = std::make_shared<BenchmarkJob>(
        jobs::BenchmarkChoice{.kind = jobs::BenchmarkKind::Lengths, .repeats = 1}, inputOf({}));
    JobHandle handle = bench.service.submit(work);
    QVERIFY(QTest::qWaitFor([&work] { return work->found()->measuredLengths() >= 2; }, 60'000));
    handle.stop();
    handle.wait();
    QCOMPARE(handle.state(), JobState::Stopped);
    const auto kept = resultIn<jobs::BenchmarkJob>(bench.newest.events(), trace::JobOutcome::Stopped);
    QVERIFY(kept && kept->measuredLengths() >= 2);
    const Benchmark measured = *work->found();
    const experiment::AbbaRow& row = *measured.lengths.front().row;
    QCOMPARE(row.documentTokens, 64);
    QCOMPARE(row.cold.cachedTokens, std::int64_t(0));
    QCOMPARE(row.swapped.cachedTokens, row.expectedCachedTokens);
  }

  /// A folder that does not exist ends the job before its first row.
  void loadTimesAreMeasuredRowByRow() {
    Bench bench;
    const QTemporaryDir folder;
    jobs::LoadTimesChoice choice{.tokens = {20, 64}, .repeats = 1, .folder = folder.path().toStdString()};
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::LoadTimesJob>>(choice, inputOf({}));
    std::vector<std::string> doing;
    const JobHandle handle = bench.finish(work, [&](JobState) { doing.push_back(work->found()->doing); });
    QCOMPARE(handle.problem(), std::string());
    QVERIFY(std::ranges::any_of(doing, [](const std::string& now) { return now.find("64") != now.npos; }));
    QCOMPARE(work->share(), 1.0);
    const auto kept = resultIn<jobs::LoadTimesJob>(bench.newest.events(), trace::JobOutcome::Finished);
    QVERIFY(kept.has_value());
    QCOMPARE(kept->choice.tokens, choice.tokens);
    QCOMPARE(kept->rows.size(), std::size_t{2});
    const experiment::LoadTimes& last = kept->rows[1];
    for (const experiment::LoadCase* loaded : {&last.host, &last.disk, &last.coldDisk})
      QCOMPARE(loaded->tokens, std::int64_t{63});
    QCOMPARE(last.computed.tokens, std::int64_t{0});
    choice.folder += "/none";
    const auto nowhere = std::make_shared<jobs::MeasuringJob<jobs::LoadTimesJob>>(choice, inputOf({}));
    QCOMPARE(bench.finish(nowhere).state(), JobState::Failed);
    QVERIFY(nowhere->found()->rows.empty());
  }

  void speedIsMeasuredTestByTest() {
    Bench bench;
    using Kind = experiment::SpeedTest::Kind;
    const jobs::SpeedChoice choice{
        .tests = {{.kind = Kind::Prompt, .count = 8}, {.kind = Kind::Generation, .count = 2, .depth = 4}},
        .repeats = 1};
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::SpeedJob>>(choice, inputOf({}));
    QCOMPARE(bench.finish(work).problem(), std::string());
    const auto kept = resultIn<jobs::SpeedJob>(bench.newest.events(), trace::JobOutcome::Finished);
    QVERIFY(kept && kept->rows.size() == 2);
    for (std::size_t i = 0; i < choice.tests.size(); ++i) {
      QCOMPARE(kept->rows[i].test.name(), choice.tests[i].name());
      QCOMPARE(kept->rows[i].tokensPerSecond.samples.size(), std::size_t{1});
      QVERIFY(kept->rows[i].share() > 0);
    }
  }

  void needlesAreMeasuredGroupByGroup() {
    Bench bench;
    experiment::NeedleOptions choice{.documents = 2, .hayWords = {0}, .portions = {0, 2}, .trials = 1};
    choice.policy = policyOf("prefix");
    choice.layout = layout::Layout::Padded;
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::NeedleJob>>(choice, inputOf({}));
    QCOMPARE(bench.finish(work).problem(), std::string());
    const auto kept = resultIn<jobs::NeedleJob>(bench.newest.events(), trace::JobOutcome::Finished);
    QVERIFY(kept && kept->rows.size() == 2);
    QVERIFY(kept->choice.policy == choice.policy && kept->choice.layout == choice.layout);
    QCOMPARE(kept->rows[1].portion, 2);
    for (const experiment::NeedleRow& row : kept->rows)
      QCOMPARE(row.found + static_cast<std::int64_t>(row.misses.size()), std::int64_t{2});
  }

  /// The trace has counts, and no attention.
  void measuresOfAttentionAreRanked() {
    Bench bench;
    const jobs::SourcesChoice choice{.documents = {3, 4}, .questions = 4};
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::SourcesJob>>(choice, inputOf({}));
    QCOMPARE(bench.finish(work).problem(), std::string());
    const auto kept = resultIn<jobs::SourcesJob>(bench.newest.events(), trace::JobOutcome::Finished);
    QVERIFY(kept && kept->rows.size() == 2);
    for (const jobs::SourcesRow& row : kept->rows) {
      QVERIFY((row.chosenOn.asked == experiment::SourceCount{.one = 2, .two = 2}));
      QVERIFY(row.reportedOn.right.both() <= 4);
    }
    // The measure of the best heads is beside those without parameters.
    QCOMPARE(kept->found.size(), experiment::sourceMeasures().size() + 1);
    const auto sum = [](const jobs::SourceFound& one) {
      return one.chosenOn[0].both() + one.chosenOn[1].both();
    };
    QVERIFY(std::ranges::is_sorted(kept->found, std::ranges::greater(), sum));
  }

  /// What is wrong with one document leaves the others, and what is there is not computed again.
  void warmingFindsWhatIsThere() {
    Bench bench;
    const jobs::WarmingChoice choice{
        {"Mira lives in Lisbon. Mira plays the cello.", "", "Tarek has a dog called Biscuit."}};
    QVERIFY(jobs::WarmingJob::unavailableReason(choice, {}) == nullptr);
    QVERIFY(jobs::WarmingJob::unavailableReason({}, {}) != nullptr);
    jobs::JobInput input = inputOf({});
    input.read = [](const std::string& text) {
      if (text.empty()) throw Failure(errorAt("text", "nothing", "a text"));
      return text;
    };
    const auto first = std::make_shared<WarmingJob>(choice, input);
    std::vector<std::size_t> reported;
    QCOMPARE(
        bench.finish(first, [&](JobState) { reported.push_back(first->found()->warmed.size()); }).state(),
        JobState::Finished);
    QCOMPARE(reported, (std::vector<std::size_t>{0, 1, 2, 3, 3}));
    const auto inTrace = resultIn<jobs::WarmingJob>(bench.newest.events(), trace::JobOutcome::Finished);
    QCOMPARE(inTrace->documents, choice.documents);
    const auto second = std::make_shared<WarmingJob>(choice, input);
    bench.finish(second);
    QCOMPARE(bench.newest.sessions, 1);
    for (const std::size_t index : {std::size_t{0}, std::size_t{2}}) {
      const jobs::WarmedDocument& cold = inTrace->warmed.at(index);
      const jobs::WarmedDocument warm = second->found()->warmed.at(index);
      QVERIFY(cold.storedTokens < 2);  // documents begin alike
      QVERIFY(cold.tokens > 2);
      QCOMPARE(warm.storedTokens, warm.tokens);
    }
    QVERIFY(inTrace->warmed.at(1).problem.find("found nothing") != std::string::npos);
  }

  void experimentsSayHowFarTheyAre() {
    Bench bench;
    bench.run(QStringLiteral("rag.json"));
    const auto request = experiment::completed(
        {.experiment = "rag", .values = {{"documents", "1,2"}, {"words", "12"}}, .repeats = 1});
    const auto work = std::make_shared<ExperimentJob>(request, inputOf({}));
    QCOMPARE(work->found()->request, request);
    const JobHandle handle = bench.finish(work);
    QCOMPARE(handle.problem(), std::string());
    const experiment::ExperimentResult result = *work->found();
    QVERIFY(!result.points.empty());
    QCOMPARE(resultIn<jobs::ExperimentJob>(bench.newest.events(), trace::JobOutcome::Finished)->points,
             result.points);
    QCOMPARE(result.progress(), 1.0);
    QCOMPARE(bench.newest.sessions, 1);
  }

  /// The bundled model has no other model beside it.
  void probesMeasureAndAreKept() {
    Bench bench;
    jobs::JobInput input = inputOf(queryOf(QStringLiteral("rag.json")));
    const jobs::ProbeChoice choice =
        jobs::ProbeJob::completed({.policies = {"prefix"}, .asksOwn = true}, input);
    QVERIFY(choice.own.has_value() && !jobs::ProbeJob::takesQuery(choice));
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::ProbeJob>>(choice, input);
    const JobHandle handle = bench.finish(work);
    QCOMPARE(handle.problem(), std::string());
    const jobs::Probe probe = *work->found();
    QCOMPARE(probe.progress(), 1.0);
    QVERIFY(!probe.bundled && probe.bundledProblem.empty());
    QCOMPARE(probe.recommended(), std::string("prefix"));
    QVERIFY(probe.rows(true).front().questions > 0 && probe.rows(false).front().questions >= 8);
    const auto kept = resultIn<jobs::ProbeJob>(bench.newest.events(), trace::JobOutcome::Finished);
    QVERIFY(kept && *kept == probe);
  }

  /// The trace keeps the numbers, and no text of the log.
  void qualityOfALogIsMeasured() {
    Bench bench;
    const std::string text = timedLog();
    const doctor::LogReader log(std::vector<doctor::LogSource>{{.name = "log", .path = {}, .text = text}});
    doctor::LogReport report = doctor::diagnose(log, *doctor::makeEstimate(), {});
    jobs::LogQualityRequest request = jobs::logQualityRequest(report, doctor::qualitySample(log, report, 4));
    QVERIFY(!request.choice.groups.empty());
    jobs::JobInput input = inputOf({});
    input.read = request.read;
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::LogQualityJob>>(
        jobs::LogQualityJob::completed(request.choice, input), input);
    const JobHandle handle = bench.finish(work);
    QCOMPARE(handle.problem(), std::string());
    const jobs::LogQuality found = *work->found();
    QCOMPARE(found.progress(), 1.0);
    QVERIFY(found.problems().empty());
    const std::vector<trace::Event> events = bench.newest.events();
    const auto kept = resultIn<jobs::LogQualityJob>(events, trace::JobOutcome::Finished);
    QVERIFY(kept && *kept == found);
    for (const experiment::ProbedModel& group : found.groups)
      for (const experiment::ProbedQuestion& question : group.questions) QVERIFY(question.answer.empty());
    found.apply(report);
    QVERIFY(!report.qualityModel.empty());
    const auto way = [&](const std::string& key) {
      return *std::ranges::find_if(report.ways, [&](const doctor::Way& one) { return one.key == key; });
    };
    QVERIFY(way("edits").quality && way("edits").quality->divergence() > 0);
    QCOMPARE(way("edits").quality->requests.front().request, 1U);
    QCOMPARE(way("documents").quality->divergence(), way("edits").quality->divergence());
    QVERIFY(!way("as_is").quality && !way("spans").quality);
    // The report of another log stays as it is.
    doctor::LogReport other = doctor::diagnose(
        doctor::LogReader({{.name = "other", .path = {}, .text = text}}), *doctor::makeEstimate(), {});
    found.apply(other);
    QVERIFY(other.qualityModel.empty());
  }

  void aStoppedProbeKeepsItsQuestions() {
    Bench bench;
    const auto work = std::make_shared<jobs::MeasuringJob<jobs::ProbeJob>>(
        jobs::ProbeJob::completed({.policies = {"prefix"}}, inputOf({})), inputOf({}));
    std::promise<void> measured;
    std::once_flag once;
    JobHandle handle = bench.service.submit(work, {.changed = [&](JobState, const std::string&) {
                                              if (work->found()->model.samples() > 0)
                                                std::call_once(once, [&] { measured.set_value(); });
                                            }});
    measured.get_future().wait();
    handle.stop();
    handle.wait();
    QCOMPARE(handle.state(), JobState::Stopped);
    const auto kept = resultIn<jobs::ProbeJob>(bench.newest.events(), trace::JobOutcome::Stopped);
    QVERIFY(kept && kept->model.samples() > 0);
  }

  /// Documents of a query are in the arguments, which a trace holds.
  void experimentsKeepTheirDocuments() {
    jobs::JobInput input = inputOf(queryOf(QStringLiteral("rag.json")));
    input.title = "rag";
    const auto request = jobs::ExperimentJob::completed(
        {.experiment = "rag", .values = {}, .source = experiment::DocumentSource::Own}, input);
    QVERIFY(request.own != nullptr);
    const auto read = trace::unpack<experiment::ExperimentRequest>(trace::pack(request));
    QVERIFY(read && read->own != nullptr);
    QCOMPARE(read->own->name(), std::string("rag"));
    QCOMPARE(read->own->count(), request.own->count());
    QVERIFY(read->own->whole() == request.own->whole());
    QCOMPARE(read->values, request.values);
    // A damaged file has no such documents.
    QVERIFY_THROWS_EXCEPTION(Failure, jobs::ownDocumentsOf(jobs::OwnQuery{.query = "{", .name = "rag"}));
  }

  /// The amount is counted with the model where that is needed, and the pace gives the time.
  void jobsAreEstimated() {
    Bench bench;
    const auto estimateOf = [&bench](const jobs::JobCall& call, std::optional<experiment::SpeedSample> pace) {
      const auto work = std::make_shared<jobs::EstimateJob>(oneThread(), call, pace);
      bench.finish(work);
      return work->estimate();
    };
    const auto experiment = jobs::callOf<jobs::ExperimentJob>(
        {.experiment = "rag", .values = {{"documents", "1,2"}, {"words", "12"}}, .repeats = 1});
    const auto lengths =
        jobs::callOf<jobs::BenchmarkJob>({.kind = jobs::BenchmarkKind::Lengths, .repeats = 1});
    QVERIFY(!estimateOf(experiment, {}));  // no model is loaded
    bench.run(QStringLiteral("rag.json"));
    const experiment::SpeedSample pace{
        .promptTokens = 1000, .promptSeconds = 1, .generatedTokens = 100, .generatedSeconds = 1};
    for (const jobs::JobCall& call : {experiment, lengths}) {
      const auto unknown = estimateOf(call, {});
      QVERIFY(unknown && unknown->amount.prompt.least > 0 && !unknown->seconds);
      QVERIFY(estimateOf(call, pace)->seconds->least > 0);
    }
    QVERIFY(!estimateOf(jobs::callOf<jobs::BenchmarkJob>({}), pace));  // the query is not known
  }

  /// With a disk tier on, an experiment's empty cache is empty, and its blocks do not take the room of those
  /// that the user keeps.
  void experimentsLeaveTiersAlone() {
    const QTemporaryDir folder;
    const QByteArray before = qgetenv("XDG_CACHE_HOME");
    const auto restore = qScopeGuard([&] {
      if (before.isEmpty())
        qunsetenv("XDG_CACHE_HOME");
      else
        qputenv("XDG_CACHE_HOME", before);
    });
    qputenv("XDG_CACHE_HOME", folder.path().toUtf8());
    RunSettings settings = oneThread();
    settings.cacheDiskMebibytes = 64;
    const auto request = experiment::completed(
        {.experiment = "rag", .values = {{"documents", "2"}, {"words", "40"}}, .repeats = 1});
    std::vector<std::vector<experiment::ExperimentPoint>> found;
    for (int time = 0; time < 2; ++time) {
      Bench bench;
      const auto work = std::make_shared<ExperimentJob>(request, inputOf({}, settings));
      QCOMPARE(bench.finish(work).problem(), std::string());
      found.push_back(work->found()->points);
    }
    QCOMPARE(found[0].size(), found[1].size());
    for (std::size_t i = 0; i < found[0].size(); ++i) {
      // The second measure is the share of the prompt that was found.
      QCOMPARE(found[1][i].samples.at(1), found[0][i].samples.at(1));
    }
    QDirIterator files(folder.path(), QDir::Files, QDirIterator::Subdirectories);
    QVERIFY2(!files.hasNext(), qPrintable(files.hasNext() ? files.next() : QString()));
  }
};

SPANSCOPE_TEST(tst_works, TestWorks)
#include "tst_works.moc"
