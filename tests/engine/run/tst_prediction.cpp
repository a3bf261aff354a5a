// SPDX-License-Identifier: GPL-3.0-or-later
// Predicted reuse against what runs then do, on a small random model.
#include "engine/model/weights.h"
#include "engine/plan/planner.h"
#include "engine/query/json.h"
#include "engine/run/predictor.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "kernels/cpu/cpu_backend.h"
#include "session_fixture.h"

#include <QTest>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

using namespace spanscope;
using spanscope::run::Doubt;
using spanscope::run::Policy;

namespace {

const std::filesystem::path kSpanlet =
    std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources/models/spanlet";

/// A random model with the bundled tokenizer.
struct RandomSession {
  RandomSession(const run::SessionConfig& config, bool endTokens) : tokenizer(text::loadTokenizer(kSpanlet)) {
    const model::ModelConfig spanlet = model::readConfig(kSpanlet);
    shape = test::tinyConfig();
    shape.vocabularySize = spanlet.vocabularySize;
    if (endTokens) {
      // Many, so that replies of all lengths come up.
      for (TokenId token = 5; token < shape.vocabularySize; token += 6) shape.endTokens.push_back(token);
      shape.endTokens.insert(shape.endTokens.end(), spanlet.endTokens.begin(), spanlet.endTokens.end());
    }
    weights = model::makeRandomWeights(shape, 1);
    cpu::CpuOptions options;
    options.threads = 1;
    backend = cpu::makeCpuBackend(options);
    decoder = std::make_unique<model::Decoder>(shape, *weights, *backend);
    session = std::make_unique<run::Session>(config, *decoder, *backend, weights->fingerprint(), "random",
                                             tokenizer.get(), &text::findChatTemplate(kSpanlet), sink);
  }

  model::ModelConfig shape;
  test::RecordingSink sink;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<model::WeightSource> weights;
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::Decoder> decoder;
  std::unique_ptr<run::Session> session;
};

run::SessionConfig withBlocks(std::int32_t count) {
  run::SessionConfig config;
  config.blockCount = count;
  return config;
}

plan::Plan planOf(const std::string& json, std::uint64_t seed) {
  const auto parsed = query::parseJson(json);
  if (!parsed.query) throw Failure({.file = "test", .place = json, .found = "errors", .expected = "a query"});
  plan::PlanOptions options;
  options.seed = seed;
  const auto result = plan::makePlan(*parsed.query, options);
  if (!result.plan) throw Failure(result.problems.front());
  return *result.plan;
}

/// Queries over a few texts, so that they have much in common.
class Queries {
 public:
  explicit Queries(std::uint32_t seed) : m_random(seed) {}

  int below(int end) { return std::uniform_int_distribution<int>(0, end - 1)(m_random); }

  std::string single() { return generate(prompt()); }

  std::string independent() {
    std::string json = below(2) == 0 ? R"({"plus":[)" : R"({"par":[)";
    const int count = 2 + below(4);
    const std::string same = generate(prompt());
    for (int i = 0; i < count; ++i) json += (i > 0 ? "," : "") + (below(3) == 0 ? same : generate(prompt()));
    return json + "]}";
  }

  /// A judge over several replies: its prompt holds what is sampled.
  std::string nested() {
    std::string json = R"({"cross":[)" + system() + R"(,{"plus":[)";
    const int count = 1 + below(3);
    for (int i = 0; i < count; ++i) json += (i > 0 ? "," : "") + generate(prompt());
    return generate(json + R"(]},{"user":"Which one?"}]})");
  }

 private:
  std::string generate(const std::string& input) {
    return R"({"g":{"model":"m","max_tokens":)" + std::to_string(1 + below(12)) + R"(,"temperature":)" +
           (below(2) == 0 ? "0.0" : "0.9") + R"(,"input":)" + input + "}}";
  }
  std::string system() {
    return below(2) == 0 ? R"({"system":"You answer from the documents."})" : R"({"system":"You judge."})";
  }
  std::string document() {
    const int index = below(5);
    std::string text = "Document " + std::to_string(index) + ".";
    for (int i = 0; i <= index; ++i) text += " Mira lives in Lisbon and plays the cello.";
    return R"({"user":")" + text + R"("})";
  }
  std::string prompt() {
    std::string json = R"({"cross":[)" + system();
    const int documents = below(4);
    if (documents > 0) {
      json += R"(,{"plus":[)";
      for (int i = 0; i < documents; ++i) json += (i > 0 ? "," : "") + document();
      json += "]}";
    }
    return json + R"(,{"user":"Question )" + std::to_string(below(3)) + R"(?"}]})";
  }

  std::mt19937 m_random;
};

/// Looked-up blocks and evictions of each request since the events were cleared.
struct Witnessed {
  std::map<RequestId, std::vector<trace::BlockLookedUp>> blocks;
  std::map<RequestId, std::int64_t> evicted;
  std::vector<RequestId> order;
};

Witnessed witnessed(const test::RecordingSink& sink) {
  Witnessed seen;
  for (const trace::Event& event : sink.events) {
    if (const auto* lookup = std::get_if<trace::BlockLookedUp>(&event.payload)) {
      seen.blocks[event.request].push_back(*lookup);
    } else if (const auto* removed = std::get_if<trace::BlockRemoved>(&event.payload)) {
      if (removed->reason == trace::RemovalReason::Evicted) ++seen.evicted[event.request];
    } else if (std::holds_alternative<trace::RequestAdmitted>(event.payload)) {
      seen.order.push_back(event.request);
    }
  }
  return seen;
}

QString show(const char* name, const run::CountRange& range, std::int64_t count) {
  return QString("%1 %2, predicted %3 to %4").arg(name).arg(count).arg(range.least).arg(range.most);
}

/// What does not agree; empty if all does.
QString compareStep(const run::StepPrediction& predicted, const run::StepResult& step,
                    const Witnessed& seen) {
  const trace::StepMetrics& metrics = step.metrics;
  const auto evictions = seen.evicted.find(step.request);
  const std::int64_t evicted = evictions == seen.evicted.end() ? 0 : evictions->second;
  const std::tuple<const char*, run::CountRange, std::int64_t> rows[] = {
      {"prompt", predicted.prompt, metrics.promptTokens},
      {"cached", predicted.cached, metrics.cachedTokens},
      {"relocated", predicted.relocated, metrics.relocatedTokens},
      {"computed", predicted.computed, metrics.computedTokens},
      {"evicted", predicted.evicted, evicted}};
  for (const auto& [name, range, count] : rows) {
    if (!range.holds(count)) return show(name, range, count);
  }
  if (predicted.doubt != Doubt::None) return {};
  for (const auto& [name, range, count] : rows) {
    if (std::string(name) != "evicted" && !range.known()) return show(name, range, count);
  }
  const std::vector<trace::BlockLookedUp>& blocks = seen.blocks.at(step.request);
  if (blocks.size() != predicted.blocks.size()) return "another number of blocks";
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto facts = [](const trace::BlockLookedUp& block) {
      return std::tuple(block.segment, block.virtualIndex, block.outcome, block.reason, block.tokens,
                        block.wanted, block.base);
    };
    if (facts(blocks[i]) != facts(predicted.blocks[i])) return QString("block %1 differs").arg(i);
  }
  return {};
}

}  // namespace

class TestPrediction : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equalsTheRun_data();
  void equalsTheRun();
  void aSequenceIsPredictedAhead_data();
  void aSequenceIsPredictedAhead();
  void changesNothing();
  void failuresAreForeseen();
  void stops();
};

void TestPrediction::equalsTheRun_data() {
  QTest::addColumn<int>("policy");
  QTest::addColumn<int>("blocks");
  QTest::addColumn<int>("blockSize");
  QTest::addColumn<bool>("endTokens");
  QTest::addColumn<bool>("tails");
  for (const Policy policy : {Policy::Prefix, Policy::Spans}) {
    for (const bool ends : {false, true}) {
      const QByteArray name = QByteArray(run::policyName(policy)) + (ends ? ", any length" : ", full length");
      const int p = static_cast<int>(policy);
      QTest::newRow(name + ", roomy") << p << 4096 << 16 << ends << true;
      QTest::newRow(name + ", full") << p << 40 << 16 << ends << true;
      QTest::newRow(name + ", full, small blocks") << p << 200 << 3 << ends << true;
      QTest::newRow(name + ", full, no tails") << p << 60 << 16 << ends << false;
    }
  }
}

void TestPrediction::equalsTheRun() {
  QFETCH(int, policy);
  QFETCH(int, blocks);
  QFETCH(int, blockSize);
  QFETCH(bool, endTokens);
  QFETCH(bool, tails);
  const std::uint32_t seed = 20261121;
  qInfo("seed %u", seed);
  Queries queries(seed);
  run::SessionConfig config = withBlocks(blocks);
  config.blockSize = blockSize;
  config.cacheTails = tails;
  config.rowsPerPass = 256;
  RandomSession random(config, endTokens);
  run::RunOptions options;
  options.policy = static_cast<Policy>(policy);
  int exact = 0;
  int bounded = 0;
  for (int round = 0; round < 18; ++round) {
    const int kind = round % 3;
    const std::string json =
        kind == 0 ? queries.single() : (kind == 1 ? queries.independent() : queries.nested());
    const plan::Plan plan = planOf(json, static_cast<std::uint64_t>(round));
    const run::Prediction predicted = random.session->predictor()->predict(plan, options);
    random.sink.events.clear();
    const run::RunResult result = random.session->run(plan, options);
    const Witnessed seen = witnessed(random.sink);
    if (result.outcome == trace::RunOutcome::Failed) {
      QVERIFY2(predicted.error, result.error->message().c_str());
      continue;
    }
    QVERIFY2(!predicted.errorIsCertain, json.c_str());
    QCOMPARE(predicted.steps.size(), result.steps.size());
    for (std::size_t i = 0; i < result.steps.size(); ++i) {
      const run::StepPrediction& step = predicted.steps[i];
      const QString wrong = compareStep(step, result.steps[i], seen);
      QVERIFY2(wrong.isEmpty(), qPrintable(QString("round %1, step %2, %3: %4\n%5")
                                               .arg(round)
                                               .arg(i)
                                               .arg(doubtName(step.doubt))
                                               .arg(wrong, QString::fromStdString(json))));
      ++(step.doubt == Doubt::None ? exact : bounded);
      // Whatever is in the pool, one prompt that is known is predicted; several are where there is room.
      if (kind == 0) QCOMPARE(step.doubt, Doubt::None);
      if (kind == 1 && blocks == 4096) {
        QVERIFY(step.doubt != Doubt::FullPool && step.doubt != Doubt::HoldsReply);
        QVERIFY(step.computed.known() || step.doubt == Doubt::Timing);
      }
      if (kind == 2 && !plan.steps[i].needs.empty()) QVERIFY(step.doubt != Doubt::None);
    }
    if (kind == 1 && std::all_of(predicted.steps.begin(), predicted.steps.end(),
                                 [](const auto& step) { return step.doubt == Doubt::None; })) {
      std::vector<RequestId> order;
      for (const StepIndex step : predicted.order) order.push_back(result.steps[step].request);
      QCOMPARE(order, seen.order);
    }
  }
  QVERIFY(exact > 12 && bounded > 3);
}

void TestPrediction::aSequenceIsPredictedAhead_data() {
  QTest::addColumn<int>("blocks");
  QTest::addColumn<bool>("endTokens");
  QTest::newRow("roomy, full length") << 4096 << false;
  QTest::newRow("roomy, any length") << 4096 << true;
  QTest::newRow("full, full length") << 40 << false;
  QTest::newRow("full, any length") << 40 << true;
}

/// All plans are predicted before the first one runs.
void TestPrediction::aSequenceIsPredictedAhead() {
  QFETCH(int, blocks);
  QFETCH(bool, endTokens);
  const std::uint32_t seed = 4711;
  qInfo("seed %u", seed);
  Queries queries(seed);
  for (int sequence = 0; sequence < 3; ++sequence) {
    RandomSession random(withBlocks(blocks), endTokens);
    run::Predictor predictor(random.session->config(), random.shape, *random.tokenizer,
                             text::findChatTemplate(kSpanlet));
    std::vector<plan::Plan> plans;
    std::vector<run::Prediction> predictions;
    for (int i = 0; i < 6; ++i) {
      plans.push_back(planOf(i % 3 == 2 ? queries.nested() : queries.single(), 0));
      predictions.push_back(predictor.predict(plans.back(), {}));
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
      random.sink.events.clear();
      const run::RunResult result = random.session->run(plans[i], {});
      if (result.outcome == trace::RunOutcome::Failed) break;
      const Witnessed seen = witnessed(random.sink);
      QCOMPARE(predictions[i].steps.size(), result.steps.size());
      for (std::size_t step = 0; step < result.steps.size(); ++step) {
        const QString wrong = compareStep(predictions[i].steps[step], result.steps[step], seen);
        QVERIFY2(wrong.isEmpty(),
                 qPrintable(
                     QString("sequence %1, plan %2, step %3: %4").arg(sequence).arg(i).arg(step).arg(wrong)));
      }
      if (blocks == 4096 && i % 3 != 2) QVERIFY(predictions[i].steps[0].computed.known());
    }
  }
}

void TestPrediction::changesNothing() {
  RandomSession random(withBlocks(40), false);
  Queries queries(3);
  random.session->run(planOf(queries.nested(), 0), {});
  const trace::PoolState before = random.session->dumpPool();
  const std::size_t events = random.sink.events.size();
  const auto predictor = random.session->predictor();
  for (int i = 0; i < 5; ++i) predictor->predict(planOf(queries.independent(), 0), {});
  QCOMPARE(random.session->dumpPool(), before);
  QCOMPARE(random.sink.events.size(), events);
}

void TestPrediction::failuresAreForeseen() {
  RandomSession random(withBlocks(4), true);
  const std::string text(400, 'x');
  const plan::Plan plan =
      planOf(R"({"g":{"model":"m","max_tokens":5,"input":{"user":")" + text + R"("}}})", 0);
  const run::Prediction predicted = random.session->predictor()->predict(plan, {});
  const run::RunResult result = random.session->run(plan, {});
  QVERIFY(predicted.error && predicted.errorIsCertain && predicted.steps.empty());
  QVERIFY(result.error);
  QCOMPARE(predicted.error->message(), result.error->message());
  const test::TinySession without(1, {});
  QVERIFY_EXCEPTION_THROWN(without.session->predictor(), Failure);
}

void TestPrediction::stops() {
  RandomSession random({}, false);
  std::stop_source stop;
  stop.request_stop();
  QVERIFY(random.session->predictor()->predict(planOf(Queries(1).single(), 0), {}, stop.get_token()).stopped);
}

QTEST_APPLESS_MAIN(TestPrediction)
#include "tst_prediction.moc"
