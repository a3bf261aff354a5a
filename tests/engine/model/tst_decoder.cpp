// SPDX-License-Identifier: GPL-3.0-or-later
// What the decoder promises besides the right logits: which rows and layers it computes, what it refuses,
// that it stops, and that how a prompt is cut into passes changes no bit.
#include "engine/base/error.h"
#include "engine/compute/half.h"
#include "engine/model/decoder.h"
#include "kernels/cpu/cpu_backend.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/run_segments.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <functional>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using model::Batch;

namespace {

model::ModelConfig smallConfig() {
  model::ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.vocabularySize = 50;
  config.hiddenSize = 32;
  config.intermediateSize = 48;
  config.layers = 3;
  config.heads = 4;
  config.keyValueHeads = 2;
  config.headSize = 8;
  config.tiedEmbeddings = true;
  return config;
}

/// A source that lacks one tensor.
class Without : public model::WeightSource {
 public:
  Without(std::unique_ptr<model::WeightSource> all, std::string name)
      : m_all(std::move(all)), m_name(std::move(name)) {}
  bool has(const std::string& name) const override { return name != m_name && m_all->has(name); }
  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    if (name == m_name) throw Failure({"checkpoint", name, "no such tensor", "one"});
    return m_all->get(name, rows, columns);
  }
  std::string fingerprint() const override { return m_all->fingerprint(); }
  std::string name() const override { return m_all->name(); }

 private:
  std::unique_ptr<model::WeightSource> m_all;
  std::string m_name;
};

std::unique_ptr<compute::Backend> makeBackend(const QString& name) {
  if (name == "reference") return std::make_unique<ReferenceBackend>();
  return cpu::makeCpuBackend({2});
}

struct Fixture {
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::WeightSource> weights;
  model::Decoder decoder;
  std::unique_ptr<compute::KvStore> store;

  explicit Fixture(const QString& name)
      : backend(makeBackend(name)),
        weights(model::makeRandomWeights(smallConfig(), 3)),
        decoder(smallConfig(), *weights, *backend),
        store(backend->makeKvStore(decoder.kvShape(12, 4, DType::F32))) {}

  /// One causal sequence in blocks 1, 2, …
  static Batch sequence(const std::vector<TokenId>& tokens) {
    Batch batch;
    batch.tokens = tokens;
    compute::KeyRange range;
    range.end = static_cast<std::int32_t>(tokens.size());
    range.causal = true;
    for (std::int32_t i = 0; i < range.end; ++i) {
      batch.localIndices.push_back(i);
      batch.slots.push_back(4 + i);
      batch.logitRows.push_back(i);
      if (i % 4 == 0) range.blocks.push_back(1 + i / 4);
    }
    batch.runs = {{0, range.end, 0, 0, {range}}};
    return batch;
  }
};

const std::vector<TokenId> kTokens = {3, 14, 15, 9, 26, 5, 35, 8, 49, 0};

void addBackends() {
  QTest::addColumn<QString>("backend");
  QTest::newRow("reference") << "reference";
  QTest::newRow("cpu") << "cpu";
}

/// All keys and values that a pass over `kTokens` wrote.
std::vector<float> stored(const Fixture& fixture) {
  std::vector<float> all;
  for (std::int32_t layer = 0; layer < 3; ++layer) {
    for (std::size_t i = 0; i < kTokens.size(); ++i) {
      std::vector<float> key(16), value(16);
      fixture.store->read(layer, static_cast<std::int64_t>(4 + i), key, value);
      all.insert(all.end(), key.begin(), key.end());
      all.insert(all.end(), value.begin(), value.end());
    }
  }
  return all;
}

}  // namespace

class TestDecoder : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void counts() {
    const Fixture fixture("reference");
    // Per layer: norms 2·32, q and o 2·32·32, k and v 2·16·32, three of 32·48. The reference holds doubles,
    // and the tied table twice.
    const std::size_t layer = 64 + 2048 + 1024 + 4608;
    QCOMPARE(fixture.decoder.parameterCount(), 3 * layer + 32 + 1600);
    QCOMPARE(fixture.decoder.weightBytes(), 8 * (3 * layer + 32 + 2 * 1600));
    QVERIFY(fixture.decoder.kvShape(12, 4, DType::BF16) == (compute::KvShape{3, 12, 4, 2, 8, DType::BF16}));
  }

  void missingTensors_data() {
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"model.embed_tokens.weight", "model.norm.weight", "model.layers.0.self_attn.q_proj.weight",
          "model.layers.1.mlp.down_proj.weight", "model.layers.2.input_layernorm.weight"}) {
      QTest::newRow(name) << name;
    }
  }
  void missingTensors() {
    QFETCH(QString, name);
    ReferenceBackend backend;
    const Without weights(model::makeRandomWeights(smallConfig(), 3), name.toStdString());
    try {
      const model::Decoder decoder(smallConfig(), weights, backend);
      QFAIL("made a decoder");
    } catch (const Failure& failure) {
      QCOMPARE(QString::fromStdString(failure.error().place), name);
    }
  }

  void untiedNeedsItsOwnTable() {
    ReferenceBackend backend;
    const auto weights = model::makeRandomWeights(smallConfig(), 3);
    model::ModelConfig untied = smallConfig();
    untied.tiedEmbeddings = false;
    QVERIFY_EXCEPTION_THROWN(model::Decoder(untied, *weights, backend), Failure);
    model::ModelConfig larger = smallConfig();
    larger.hiddenSize = 64;
    QVERIFY_EXCEPTION_THROWN(model::Decoder(larger, *weights, backend), Failure);
  }

  void onlyTheRowsAskedFor_data() { addBackends(); }
  void onlyTheRowsAskedFor() {
    QFETCH(QString, backend);
    Fixture fixture(backend);
    const auto all = fixture.decoder.forward(Fixture::sequence(kTokens), *fixture.store, {});
    const auto kept = stored(fixture);
    QCOMPARE(all.logits.size(), kTokens.size() * 50);
    Batch batch = Fixture::sequence(kTokens);
    batch.logitRows = {7, 0, 7};
    const auto some = fixture.decoder.forward(batch, *fixture.store, {});
    QCOMPARE(some.logits.size(), std::size_t{150});
    for (std::size_t i = 0; i < 3; ++i) {
      const auto row = static_cast<std::size_t>(batch.logitRows[i]);
      QCOMPARE(std::memcmp(some.logits.data() + i * 50, all.logits.data() + row * 50, 200), 0);
    }
    batch.logitRows.clear();
    Fixture other(backend);
    QVERIFY(other.decoder.forward(batch, *other.store, {}).logits.empty());
    QCOMPARE(stored(other), kept);
    QVERIFY(other.decoder.forward(Batch{}, *other.store, {}).logits.empty());
  }

  void hiddenRowsGoBesideLogits_data() { addBackends(); }
  void hiddenRowsGoBesideLogits() {
    QFETCH(QString, backend);
    Fixture fixture(backend);
    const auto all = fixture.decoder.forward(Fixture::sequence(kTokens), *fixture.store, {});
    QVERIFY(all.hidden.empty());
    Batch batch = Fixture::sequence(kTokens);
    batch.logitRows.clear();
    batch.hiddenRows = {2, 9, 0};
    const auto hidden = fixture.decoder.forward(batch, *fixture.store, {});
    QVERIFY(hidden.logits.empty());
    QCOMPARE(hidden.hidden.size(), std::size_t{3 * 32});
    batch.logitRows = {9, 4};
    const auto both = fixture.decoder.forward(batch, *fixture.store, {});
    QVERIFY(both.hidden == hidden.hidden);
    QCOMPARE(both.logits.size(), std::size_t{100});
    QCOMPARE(std::memcmp(both.logits.data(), all.logits.data() + 9 * 50, 200), 0);
    QCOMPARE(std::memcmp(both.logits.data() + 50, all.logits.data() + 4 * 50, 200), 0);
    // The logits are those states times the table of tokens.
    const auto weights = model::makeRandomWeights(smallConfig(), 3);
    const compute::HostMatrix table = weights->get("model.embed_tokens.weight", 50, 32);
    for (std::size_t token = 0; token < 50; ++token) {
      double sum = 0;
      for (std::size_t i = 0; i < 32; ++i) {
        const float weight =
            compute::loadElement(table.data + (token * 32 + i) * compute::sizeOf(table.type), table.type);
        sum += static_cast<double>(both.hidden[32 + i]) * static_cast<double>(weight);
      }
      QVERIFY(std::abs(sum - static_cast<double>(both.logits[token])) < 1e-4 * (1 + std::abs(sum)));
    }
  }

  void attentionMass_data() { addBackends(); }
  void attentionMass() {
    QFETCH(QString, backend);
    Fixture fixture(backend);
    for (const bool withLogits : {true, false}) {
      Batch batch = Fixture::sequence(kTokens);
      if (!withLogits) batch.logitRows.clear();
      batch.massLayers = {2, 0};
      batch.mass.runs = {0};
      const auto result = fixture.decoder.forward(batch, *fixture.store, {});
      QCOMPARE(result.mass.size(), std::size_t{2});
      QCOMPARE(result.mass[0].layer, 0);
      QCOMPARE(result.mass[1].layer, 2);
      for (const auto& layer : result.mass) {
        QCOMPARE(layer.runs.size(), std::size_t{1});
        QCOMPARE(layer.runs[0].keyBlocks, std::vector<std::int32_t>{3});
        for (std::size_t head = 0; head < 4; ++head) {
          const float* mass = layer.runs[0].mass.data() + head * 3;
          QVERIFY(std::abs(mass[0] + mass[1] + mass[2] - 10) < 1e-4F);
        }
      }
    }
  }

  void stops_data() { addBackends(); }
  void stops() {
    QFETCH(QString, backend);
    Fixture fixture(backend);
    std::stop_source source;
    source.request_stop();
    const auto stopped =
        fixture.decoder.forward(Fixture::sequence(kTokens), *fixture.store, source.get_token());
    QVERIFY(stopped.stopped);
    QVERIFY(stopped.logits.empty());
    const auto again = fixture.decoder.forward(Fixture::sequence(kTokens), *fixture.store, {});
    QVERIFY(!again.stopped);
    QCOMPARE(again.logits.size(), kTokens.size() * 50);
  }

  void badBatches_data() {
    QTest::addColumn<int>("fault");
    const char* names[] = {"token beyond",     "negative token",    "slot beyond",        "negative slot",
                           "logit row beyond", "hidden row beyond", "mass layer beyond",  "mass run beyond",
                           "too few slots",    "too few locals",    "rows without a run", "runs overlap"};
    for (int fault = 0; fault < 12; ++fault) QTest::newRow(names[fault]) << fault;
  }
  void badBatches() {
    QFETCH(int, fault);
    Fixture fixture("reference");
    Batch batch = Fixture::sequence(kTokens);
    const std::function<void()> faults[] = {
        [&] { batch.tokens[3] = 50; },       [&] { batch.tokens[3] = -1; },
        [&] { batch.slots[0] = 48; },        [&] { batch.slots[9] = -1; },
        [&] { batch.logitRows = {10}; },     [&] { batch.hiddenRows = {10}; },
        [&] { batch.massLayers = {3}; },     [&] { batch.mass.runs = {1}; },
        [&] { batch.slots.pop_back(); },     [&] { batch.localIndices.pop_back(); },
        [&] { batch.runs[0].rowCount = 9; }, [&] { batch.runs.push_back(batch.runs[0]); },
    };
    faults[fault]();
    QVERIFY_EXCEPTION_THROWN(fixture.decoder.forward(batch, *fixture.store, {}), Failure);
  }

  void anotherModelsStore() {
    Fixture fixture("reference");
    const auto store = fixture.backend->makeKvStore({2, 12, 4, 2, 8, DType::F32});
    QVERIFY_EXCEPTION_THROWN(fixture.decoder.forward(Fixture::sequence(kTokens), *store, {}), Failure);
  }

  /// The same span table in passes of any size, on any threads, in any blocks: the same bits.
  void cutsChangeNothing() {
    const std::uint64_t seed = testSeed(21);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    Random random(seed);
    const auto weights = model::makeRandomWeights(smallConfig(), 4);
    for (int round = 0; round < 12; ++round) {
      std::vector<TestSegment> segments;
      std::vector<TokenId> tokens;
      for (std::int64_t i = random.between(1, 5); i > 0; --i) {
        segments.push_back({random.below(2) == 0, static_cast<std::int32_t>(random.between(1, 40))});
        for (std::int32_t j = 0; j < segments.back().length; ++j)
          tokens.push_back(static_cast<TokenId>(random.below(50)));
      }
      const auto blockSize = static_cast<std::int32_t>(random.between(1, 20));
      std::vector<float> first;
      for (int threads = 1; threads <= 3; ++threads) {
        const auto backend = cpu::makeCpuBackend({threads});
        model::Decoder decoder(smallConfig(), *weights, *backend);
        SegmentOptions options;
        if (threads > 1) {
          options.rowsPerPass = static_cast<std::int32_t>(random.between(1, 30));
          options.firstBlock = static_cast<std::int32_t>(random.between(1, 5));
          options.blockStep = static_cast<std::int32_t>(random.between(1, 3));
        }
        const auto shape = decoder.kvShape(blocksNeeded(segments, blockSize, options), blockSize, DType::F32);
        const auto store = backend->makeKvStore(shape);
        const auto logits = runSegments(decoder, *store, tokens, segments, options).logits;
        if (threads == 1) first = logits;
        QCOMPARE(logits.size(), first.size());
        QCOMPARE(std::memcmp(logits.data(), first.data(), first.size() * sizeof(float)), 0);
      }
    }
  }
};

QTEST_GUILESS_MAIN(TestDecoder)
#include "tst_decoder.moc"
