// SPDX-License-Identifier: GPL-3.0-or-later
// What an experiment computes is known before it runs, in tokens; times follow from a pace.
#include "engine/base/error.h"
#include "engine/experiment/abba.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/experiment_amount.h"
#include "engine/experiment/token_amount.h"
#include "engine/query/json/json.h"
#include "engine/text/chat_template.h"
#include "engine/trace/event.h"
#include "tests/engine/run/session_fixture.h"
#include "tests/support/test_program.h"

#include <QString>
#include <QStringList>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace spanscope;
using experiment::DurationUnit;
using experiment::ExperimentAmount;
using experiment::ExperimentRequest;
using experiment::ExperimentResult;
using experiment::RemainingTime;
using experiment::SpeedSample;
using experiment::TokenAmount;

namespace {

/// Counts what runs compute, on the way to the sink of an experiment.
class CountingSink final : public trace::Sink {
 public:
  CountingSink(trace::Sink& next, SpeedSample& computed) : m_next(next), m_computed(computed) {}
  std::uint64_t send(RunId run, RequestId request, const NodePath& node, trace::Payload payload) override {
    if (const auto* metrics = std::get_if<trace::StepMetrics>(&payload)) m_computed.add(*metrics);
    return m_next.send(run, request, node, std::move(payload));
  }

 private:
  trace::Sink& m_next;
  SpeedSample& m_computed;
};

struct Bench {
  experiment::ExperimentModel model() {
    return {.name = "spanlet",
            .machine = "a machine",
            .decoder = *spanlet.decoder,
            .backend = *spanlet.backend,
            .tokenizer = spanlet.tokenizer.get(),
            .chat = &chat,
            .session = {},
            .scratch = scratch.path().toStdString(),
            .open = [this](const run::SessionConfig& config, trace::Sink& sink) {
              ++sessions;
              sinks.push_back(std::make_unique<CountingSink>(sink, computed));
              return std::make_unique<run::Session>(config, *spanlet.decoder, *spanlet.backend, "spanlet",
                                                    "spanlet", spanlet.tokenizer.get(), &chat, *sinks.back());
            }};
  }
  ExperimentResult run(ExperimentRequest request) {
    ExperimentResult result;
    result.request = std::move(request);
    experiment::runExperiment(result, model(), [](const ExperimentResult&) {}, {});
    return result;
  }

  test::SpanletSession spanlet;
  const text::ChatTemplate& chat = text::findChatTemplate(SPANSCOPE_SOURCE_DIR "/resources/models/spanlet");
  QTemporaryDir scratch;
  std::vector<std::unique_ptr<CountingSink>> sinks;
  SpeedSample computed;
  int sessions = 0;
};

ExperimentRequest requestOf(const QString& text, std::int32_t repeats) {
  QStringList parts = text.split(QLatin1Char(';'));
  ExperimentRequest request{.experiment = parts.takeFirst().toStdString(), .values = {}, .repeats = repeats};
  for (const QString& part : parts)
    request.values[part.section('=', 0, 0).toStdString()] = part.section('=', 1).toStdString();
  return request;
}

run::CountRange exactly(std::int64_t count) {
  return {count, count};
}

}  // namespace

class TestExperimentAmount : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void tokensAreKnownBefore_data() {
    QTest::addColumn<QString>("request");
    QTest::addColumn<int>("repeats");
    QTest::addColumn<bool>("isExact");
    const auto row = [](const char* name, const char* request, int repeats, bool isExact) {
      QTest::newRow(name) << QString(request) << repeats << isExact;
    };
    row("rag", "rag;documents=1,4;words=20;policies=spans,prefix", 2, true);
    row("rag, many repeats", "rag;documents=1,3;words=20;policies=spans,prefix", 8, false);
    row("rag, repaired", "rag;documents=4;words=20;policies=link(2),blend(0.15)", 1, false);
    row("reuse", "reuse;words=20;block_sizes=4,16;orders=same,reversed;policies=spans,prefix", 2, true);
    row("judge", "judge;generates=1,3;words=12;tokens=6;policies=spans,prefix", 2, false);
    row("accuracy", "accuracy;documents=3,8;policies=spans,prefix", 2, true);
    row("locality", "locality;hay=0,20;portions=0,2;documents=4", 2, false);
    row("depth", "depth;hay=10;portions=0;documents=4;depths=0,100", 2, true);
    row("cropping", "cropping;sizes=4,16;documents=4;portion=2;hay=10", 1, false);
  }
  void tokensAreKnownBefore() {
    QFETCH(const QString, request);
    QFETCH(const int, repeats);
    QFETCH(const bool, isExact);
    Bench bench;
    const ExperimentRequest asked = requestOf(request, repeats);
    const ExperimentAmount amount = experiment::countExperiment(asked, bench.model());
    QCOMPARE(bench.sessions, 0);  // nothing is computed for it
    const ExperimentResult result = bench.run(asked);
    const std::string said = "prompt " + std::to_string(amount.total.prompt.least) + " … " +
                             std::to_string(amount.total.prompt.most) + ", computed " +
                             std::to_string(bench.computed.promptTokens) + "; generated " +
                             std::to_string(amount.total.generated.most) + ", " +
                             std::to_string(bench.computed.generatedTokens);
    QVERIFY2(amount.total.prompt.holds(bench.computed.promptTokens), said.c_str());
    QVERIFY2(amount.total.generated.holds(bench.computed.generatedTokens), said.c_str());
    QCOMPARE(amount.total.prompt.known(), isExact);
    // Bounds that say something.
    QVERIFY2(amount.total.prompt.most <= 3 * bench.computed.promptTokens, said.c_str());
    if (repeats <= 3) QCOMPARE(amount.steps.size(), result.total);
    QVERIFY(std::is_sorted(amount.steps.begin(), amount.steps.end(), [](const auto& one, const auto& other) {
      return one.prompt.least < other.prompt.least;
    }));
  }

  /// The user's documents have as many repeats as they have orders.
  void ownDocumentsAreCounted() {
    Bench bench;
    ExperimentRequest request = requestOf("accuracy;documents=1,3;policies=spans", 9);
    request.source = experiment::DocumentSource::Own;
    request.own = std::make_shared<const experiment::OwnDocuments>(
        *query::parseJson(
             R"({"g":{"model":"m","max_tokens":4,"input":{"cross":[{"plus":[{"user":"Mira lives in Lisbon."},
                {"user":"Otto is a baker."},{"user":"The soup was cold."}]},{"user":"Where does Mira live?"}]}}})")
             .query,
        "it");
    const ExperimentAmount amount = experiment::countExperiment(request, bench.model());
    bench.run(request);
    QVERIFY(amount.total.prompt.holds(bench.computed.promptTokens));
    QVERIFY(amount.total.generated.holds(bench.computed.generatedTokens));
  }

  /// Of what is computed for fidelity, the runs are a part.
  void fidelityIsCounted() {
    Bench bench;
    const ExperimentRequest request = requestOf("fidelity;documents=3;policies=prefix", 1);
    const ExperimentAmount amount = experiment::countExperiment(request, bench.model());
    bench.run(request);
    // The prompt once in the run and once in the full prefill, and two forward passes over the answer.
    const std::int64_t prompt = bench.computed.promptTokens;
    const std::int64_t answer = bench.computed.generatedTokens + 1;
    QVERIFY(amount.total.prompt.holds(2 * prompt + 2 * answer));
    QVERIFY(amount.total.prompt.least >= 2 * prompt);
  }

  void relocationAndLoadingAreCounted() {
    Bench bench;
    const auto warmUp =
        experiment::abbaAmount({.documents = 2, .questionTokens = 32, .repeats = 1, .coldRepeats = 1}, 16);
    QCOMPARE(warmUp.prompt, exactly(24 + 2 * 16 + 32 + 4 * 32));
    const ExperimentAmount relocation =
        experiment::countExperiment(requestOf("relocation;tokens=16", 2), bench.model());
    QCOMPARE(relocation.total.prompt,
             exactly(warmUp.prompt.most + 2 * (24 + 2 * 16 + 32) + 2 * 32 + 2 * 2 * 32));
    const ExperimentAmount load = experiment::countExperiment(requestOf("load;tokens=64", 3), bench.model());
    QVERIFY(load.total.prompt.holds(7 * 64 + 15));
    QCOMPARE(bench.sessions, 0);
  }

  void aStopEndsTheCount() {
    Bench bench;
    std::stop_source stop;
    stop.request_stop();
    QVERIFY_EXCEPTION_THROWN(
        experiment::countExperiment(requestOf("rag", 1), bench.model(), stop.get_token()), Failure);
  }

  void timesFollowFromAPace() {
    const TokenAmount amount{.prompt = {1000, 2000}, .generated = {0, 100}};
    const SpeedSample pace{
        .promptTokens = 500, .promptSeconds = 5, .generatedTokens = 10, .generatedSeconds = 1};
    QCOMPARE(experiment::secondsFor(amount, pace), (experiment::SecondsRange{10, 30}));
    // What is not known is not said.
    QVERIFY(!experiment::secondsFor(amount, {}));
    QVERIFY(!experiment::secondsFor(amount, {.promptTokens = 500, .promptSeconds = 5}));
    QVERIFY(experiment::secondsFor({.prompt = {1, 1}, .generated = {}},
                                   {.promptTokens = 500, .promptSeconds = 5}));
    TokenAmount open = amount;
    open.prompt.most = run::CountRange::kUnbounded;
    QVERIFY(!experiment::secondsFor(open, pace));
  }

  void pacesAreMeasuredByRuns() {
    Bench bench;
    const ExperimentResult result = bench.run(requestOf("accuracy;documents=3;policies=spans", 2));
    QCOMPARE(result.pace.promptTokens, bench.computed.promptTokens);
    QCOMPARE(result.pace.generatedTokens, bench.computed.generatedTokens);
    QVERIFY(result.pace.promptSeconds > 0 && result.pace.generatedSeconds > 0);
    const trace::StepMetrics step{.computedTokens = 30,
                                  .generatedTokens = 5,
                                  .timeToFirstToken = 3,
                                  .interTokenLatency = 0.5,
                                  .queueTime = 1};
    SpeedSample pace;
    pace.add(step);
    QCOMPARE(pace, (SpeedSample{30, 2, 4, 2}));
  }

  void timesAreRounded() {
    QCOMPARE(experiment::durationText({38, 41}), std::string("about 40 s"));
    QCOMPARE(experiment::durationText({20, 70}), std::string("20 s to 1 min"));
    QCOMPARE(experiment::durationText({0.01, 0.01}), std::string("about 1 s"));
    QCOMPARE(experiment::durationText({58, 58}), std::string("about 1 min"));
    QCOMPARE(experiment::durationText({100 * 60, 100 * 60}), std::string("about 100 min"));
    QCOMPARE(experiment::durationText({5 * 3600, 5 * 3600}), std::string("about 5 h"));
    QCOMPARE(experiment::roundedDuration(7.4), (experiment::Duration{7, DurationUnit::Seconds}));
  }

  /// The rest is in proportion to the tokens that are left, not to the steps.
  void theRestIsWeighedByTokens() {
    const auto upTo = [](std::int64_t prompt, std::int64_t generated) {
      return TokenAmount{.prompt = exactly(prompt), .generated = exactly(generated)};
    };
    const RemainingTime byTokens({upTo(100, 0), upTo(200, 0), upTo(1000, 0)});
    QCOMPARE(byTokens.workDone(1.0 / 3), 0.1);
    QCOMPARE(byTokens.workDone(2.0 / 3), 0.2);
    QCOMPARE(byTokens.workDone(1), 1.0);
    QCOMPARE(byTokens.secondsLeft(2.0 / 3, 10), 40.0);
    QVERIFY(!byTokens.secondsLeft(0.01, 1));
    QCOMPARE(byTokens.secondsLeft(1, 50), 0.0);
    // At this pace a token of an answer takes as long as ten of a prompt.
    const RemainingTime withAnswers(
        {upTo(100, 0), upTo(100, 10)},
        {.promptTokens = 100, .promptSeconds = 1, .generatedTokens = 10, .generatedSeconds = 1});
    QCOMPARE(withAnswers.workDone(0.5), 0.5);
    const RemainingTime unknown;
    QCOMPARE(unknown.secondsLeft(0.25, 10), 30.0);
  }
};

SPANSCOPE_TEST(tst_experiment_amount, TestExperimentAmount)
#include "tst_experiment_amount.moc"
