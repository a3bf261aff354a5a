// SPDX-License-Identifier: GPL-3.0-or-later
// What the decoder promises besides the right logits: which rows and layers it computes, what it refuses,
// that it stops, and that how a prompt is cut into passes changes no bit.
#include "engine/base/error.h"
#include "engine/compute/dtype.h"
#include "engine/model/decoder.h"
#include "engine/model/weight_reader.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/run_segments.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using model::Batch;
using spanscope::product_text::worded;

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
  std::vector<model::StoredTensor> stored() const override {
    std::vector<model::StoredTensor> tensors = m_all->stored();
    std::erase_if(tensors, [&](const model::StoredTensor& tensor) { return tensor.name == m_name; });
    return tensors;
  }
  std::string fingerprint() const override { return m_all->fingerprint(); }
  std::string name() const override { return m_all->name(); }

 private:
  std::unique_ptr<model::WeightSource> m_all;
  std::string m_name;
};

/// A source with tensors of its own before those of another.
class With : public model::WeightSource {
 public:
  explicit With(std::unique_ptr<model::WeightSource> all) : m_all(std::move(all)) {}

  /// A tensor of such elements. The one at `index` is `value`; the others are `otherwise`.
  void add(const std::string& name, DType type, std::int64_t rows, std::int64_t columns, float otherwise,
           std::int64_t index = 0, std::optional<float> value = {}) {
    Own& own = m_own[name];
    own = {type, rows, columns, {}};
    const std::size_t size = compute::sizeOf(type);
    own.data.resize(static_cast<std::size_t>(rows * columns) * size);
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      compute::storeElement(own.data.data() + static_cast<std::size_t>(i) * size, type,
                            value && i == index ? *value : otherwise);
    }
  }
  /// The same values as those of a tensor there is.
  void addCopy(const std::string& name, const std::string& of, std::int64_t rows, std::int64_t columns) {
    const compute::HostMatrix matrix = m_all->get(of, rows, columns);
    add(name, *compute::dtypeOf(matrix.format), rows, columns, 0);
    std::memcpy(m_own[name].data.data(), matrix.data, m_own[name].data.size());
  }

  bool has(const std::string& name) const override { return m_own.contains(name) || m_all->has(name); }
  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    const auto own = m_own.find(name);
    if (own == m_own.end()) return m_all->get(name, rows, columns);
    return {own->second.data.data(), compute::formatOf(own->second.type), rows, columns};
  }
  std::vector<model::StoredTensor> stored() const override {
    std::vector<model::StoredTensor> tensors;
    for (const model::StoredTensor& tensor : m_all->stored())
      if (!m_own.contains(tensor.name)) tensors.push_back(tensor);
    for (const auto& [name, own] : m_own) tensors.push_back({name, "own.safetensors"});
    return tensors;
  }
  std::string fingerprint() const override { return m_all->fingerprint(); }
  std::string name() const override { return "a model"; }

 private:
  struct Own {
    DType type = DType::F32;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<std::byte> data;
  };
  std::unique_ptr<model::WeightSource> m_all;
  std::map<std::string, Own> m_own;
};

/// What making a decoder fails with; nothing if it does not.
std::optional<Error> loadError(const model::ModelConfig& config, const model::WeightSource& weights) {
  ReferenceBackend backend;
  try {
    const model::Decoder decoder(config, weights, backend);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

std::unique_ptr<compute::Backend> makeBackend(const QString& name) {
  if (name == "reference") return std::make_unique<ReferenceBackend>();
  return test::makeBackend();
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
    batch.runs = {{0, range.end, 0, {range}}};
    return batch;
  }
};

const std::vector<TokenId> kTokens = {3, 14, 15, 9, 26, 5, 35, 8, 49, 0};

/// Records the order of the operations.
class OrderedBackend : public ReferenceBackend {
 public:
  std::string order;  ///< n: norm, p: product, s: store, c: narrowing, a: attention, u: activation

  void rmsNorm(const compute::Tensor& x, const compute::Weight& weight, float epsilon,
               compute::Tensor& out) override {
    order += 'n';
    ReferenceBackend::rmsNorm(x, weight, epsilon, out);
  }
  void matmul(const compute::Tensor& x, const compute::Weight& weight, const compute::Weight* bias,
              bool accumulate, compute::Tensor& out) override {
    order += 'p';
    ReferenceBackend::matmul(x, weight, bias, accumulate, out);
  }
  void storeKeysValues(const compute::Pass& pass, const compute::Tensor& keys, const compute::Tensor& values,
                       std::int32_t layer, compute::KvStore& store) override {
    order += 's';
    ReferenceBackend::storeKeysValues(pass, keys, values, layer, store);
  }
  void narrow(compute::Pass& pass, const compute::Tensor& scores) override {
    order += 'c';
    ReferenceBackend::narrow(pass, scores);
  }
  void attend(compute::Pass& pass, const compute::Tensor& queries, const compute::KvStore& store,
              std::int32_t layer, bool observed, compute::Tensor& out,
              const compute::Weight* sinks) override {
    order += 'a';
    ReferenceBackend::attend(pass, queries, store, layer, observed, out, sinks);
  }
  void multiplyGated(compute::Activation activation, const compute::Tensor& gate, const compute::Tensor& up,
                     compute::Tensor& out) override {
    order += 'u';
    ReferenceBackend::multiplyGated(activation, gate, up, out);
  }
};

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

  void surplusTensors_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("tied");
    QTest::addColumn<bool>("refused");
    const auto row = [](const char* name, bool refused, bool tied = true) {
      QTest::newRow(name) << name << tied << refused;
    };
    row("model.layers.0.self_attn.rotary_emb.inv_freq", false);
    row("model.layers.2.self_attn.rotary_emb.inv_freq", false);
    row("model.layers.1.self_attn.rotary_emb.cos_cached", false);
    row("model.rotary_emb.inv_freq", false);
    row("model.rotary_emb.inv_freq", false, false);
    // A layer that the configuration does not count, whatever of it is there.
    row("model.layers.3.self_attn.rotary_emb.inv_freq", true);
    row("model.layers.3.input_layernorm.weight", true);
    row("model.layers.10.mlp.up_proj.weight", true);
    row("model.layers.x.self_attn.rotary_emb.inv_freq", true);
    row("model.layers..self_attn.rotary_emb.inv_freq", true);
    row("model.layers.-1.self_attn.rotary_emb.inv_freq", true);
    row("model.layers.0.self_attn.q_proj.bias", true);
    row("model.layers.0.self_attn.q_norm.weight", true);
    // Other parts of a checkpoint do not change texts.
    row("score.weight", false);
    row("model.vision_tower.layers.0.weight", false);
    row("embed_positions.weight", true);
    row("", true);
  }
  void surplusTensors() {
    QFETCH(QString, name);
    QFETCH(bool, tied);
    QFETCH(bool, refused);
    model::ModelConfig config = smallConfig();
    config.tiedEmbeddings = tied;
    With weights(model::makeRandomWeights(config, 3));
    weights.add(name.toStdString(), DType::F32, 1, 4, 0);
    const std::optional<Error> error = loadError(config, weights);
    QCOMPARE(error.has_value(), refused);
    if (!refused) return;
    QCOMPARE(error->file, std::string("own.safetensors"));
    QVERIFY2(QString::fromStdString(error->found).endsWith("does not use: \"" + name + "\""),
             error->message().c_str());
    QVERIFY2(error->expected.find("3 layers") != std::string::npos, error->message().c_str());
  }

  /// The first are named, the others counted.
  void manySurplusTensors() {
    With weights(model::makeRandomWeights(smallConfig(), 3));
    for (int i = 0; i < 9; ++i) weights.add("model.layers.3.t" + std::to_string(i), DType::F32, 1, 4, 0);
    const std::optional<Error> error = loadError(smallConfig(), weights);
    QVERIFY(error.has_value());
    QCOMPARE(error->found,
             worded(std::string("<tensors-model-no> \"model.layers.3.t0\", \"model.layers.3.t1\", "
                                "\"model.layers.3.t2\", \"model.layers.3.t3\" and 5 more")));
  }

  void tiedTables() {
    const std::string table = "model.embed_tokens.weight";
    const std::string head = "lm_head.weight";
    With same(model::makeRandomWeights(smallConfig(), 3));
    same.addCopy(head, table, 50, 32);
    QVERIFY(!loadError(smallConfig(), same));
    With other(model::makeRandomWeights(smallConfig(), 3));
    other.add(head, DType::BF16, 50, 32, 0.5F);
    const std::optional<Error> error = loadError(smallConfig(), other);
    QVERIFY(error.has_value());
    QCOMPARE(error->place, head);
    QVERIFY(error->found.find(table) != std::string::npos);
  }

  void weightsThatAreNotFinite_data() {
    QTest::addColumn<int>("type");
    QTest::addColumn<float>("value");
    QTest::addColumn<qint64>("index");
    QTest::addColumn<QString>("found");  // empty: loads
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
      const auto row = [&](const char* name, float value, qint64 index, const QString& found) {
        QTest::addRow("%s %s", compute::nameOf(type), name)
            << static_cast<int>(type) << value << index << found;
      };
      row("nan first", kNan, 0, "nan at the index 0");
      row("nan last", kNan, 48 * 32 - 1, "nan at the index 1535");
      row("negative nan", -kNan, 1000, "nan at the index 1000");
      row("infinite", kInfinity, 7, "an infinite number at the index 7");
      row("negative infinite", -kInfinity, 1024, "an infinite number at the index 1024");
      row("largest", type == DType::F16 ? 65504.0F : 3e38F, 5, "");
      row("smallest", -1e-40F, 5, "");
    }
  }
  void weightsThatAreNotFinite() {
    QFETCH(int, type);
    QFETCH(float, value);
    QFETCH(qint64, index);
    QFETCH(QString, found);
    const std::string name = "model.layers.1.mlp.up_proj.weight";
    With weights(model::makeRandomWeights(smallConfig(), 3));
    weights.add(name, static_cast<DType>(type), 48, 32, 0.25F, index, value);
    const std::optional<Error> error = loadError(smallConfig(), weights);
    QCOMPARE(error.has_value(), !found.isEmpty());
    if (!error) return;
    QCOMPARE(error->file, std::string("own.safetensors"));
    QCOMPARE(error->place, name);
    QCOMPARE(QString::fromStdString(error->found), found);
  }

  /// For a tensor of many parts the first such number is named, at any place.
  void firstThatIsNotFinite() {
    std::vector<float> values(5000, 1);
    QVERIFY(!model::findNotFinite(values));
    for (const std::size_t index : {4999U, 4096U, 4095U, 2048U, 2047U, 1U, 0U}) {
      values[index] = std::numeric_limits<float>::quiet_NaN();
      const std::optional<model::NotFinite> found = model::findNotFinite(values);
      QVERIFY(found.has_value());
      QCOMPARE(found->index, index);
      QVERIFY(!model::findNotFinite(std::span(values).first(index)));
    }
    QVERIFY(!model::findNotFinite(std::span<const float>{}));
  }

  /// Weights may be finite and what comes of them not.
  void resultsThatAreNotFinite_data() { addBackends(); }
  void resultsThatAreNotFinite() {
    QFETCH(QString, backend);
    With weights(model::makeRandomWeights(smallConfig(), 3));
    weights.add("model.norm.weight", DType::F32, 1, 32, 3e38F);
    const std::unique_ptr<compute::Backend> device = makeBackend(backend);
    model::Decoder decoder(smallConfig(), weights, *device);
    const auto store = device->makeKvStore(decoder.kvShape(12, 4, DType::F32));
    const auto place = [&](const Batch& batch) -> std::string {
      try {
        decoder.forward(batch, *store, {});
      } catch (const Failure& failure) {
        return failure.error().file + ": " + failure.error().found;
      }
      return "nothing";
    };
    Batch batch = Fixture::sequence(kTokens);
    QVERIFY2(
        place(batch).find("a model: ") == 0 && place(batch).find("among the logits") != std::string::npos,
        place(batch).c_str());
    batch.logitRows.clear();
    QCOMPARE(place(batch), std::string("nothing"));
    batch.hiddenRows = {0};
    QVERIFY2(place(batch).find("among the hidden states") != std::string::npos, place(batch).c_str());
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
        const compute::DType type = *compute::dtypeOf(table.format);
        const float weight =
            compute::loadElement(table.data + (token * 32 + i) * compute::sizeOf(type), type);
        sum += static_cast<double>(both.hidden[32 + i]) * static_cast<double>(weight);
      }
      QVERIFY(std::abs(sum - static_cast<double>(both.logits[token])) < 1e-4 * (1 + std::abs(sum)));
    }
  }

  /// Tokens come back without the logits they are drawn from, and they are those of the same logits.
  void tokensAreDrawnWithoutTheirLogits_data() { addBackends(); }
  void tokensAreDrawnWithoutTheirLogits() {
    QFETCH(QString, backend);
    Fixture fixture(backend);
    Batch batch = Fixture::sequence(kTokens);
    batch.draws = {{.logits = 9, .settings = {}, .index = 0},
                   {.logits = 2, .settings = {.temperature = 1, .seed = 7}, .index = 3}};
    const auto both = fixture.decoder.forward(batch, *fixture.store, {});
    QCOMPARE(both.tokens.size(), std::size_t{2});
    for (std::size_t i = 0; i < 2; ++i) {
      const compute::Draw& draw = batch.draws[i];
      const auto row = std::span(both.logits).subspan(static_cast<std::size_t>(draw.logits) * 50, 50);
      QCOMPARE(both.tokens[i],
               compute::sampleRow({.logits = row, .settings = draw.settings, .index = draw.index}));
    }
    batch.logitsWanted = false;
    const auto tokens = fixture.decoder.forward(batch, *fixture.store, {});
    QVERIFY(tokens.logits.empty());
    QVERIFY(tokens.tokens == both.tokens);
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

  /// Products of the same rows follow each other, and none is made that nobody needs.
  void productsOfTheSameRowsAreNeighbours() {
    OrderedBackend backend;
    const auto weights = model::makeRandomWeights(smallConfig(), 3);
    model::Decoder decoder(smallConfig(), *weights, backend);
    const auto store = backend.makeKvStore(decoder.kvShape(12, 4, DType::F32));
    const auto orderOf = [&](const Batch& batch) {
      backend.order.clear();
      decoder.forward(batch, *store, {});
      return backend.order;
    };
    const std::string behind = "pnppup";
    const std::string layer = "npppsa" + behind;
    Batch batch = Fixture::sequence(kTokens);
    QCOMPARE(orderOf(batch), layer + layer + layer + "np");
    batch.logitRows.clear();
    QCOMPARE(orderOf(batch), layer + layer + "npps");
    batch.massLayers = {2};
    QCOMPARE(orderOf(batch), layer + layer + "npppsa");
    batch.massLayers.clear();
    // Queries of the rows that are left, where it is narrowed.
    batch.narrowings = {{{.runs = 1, .kept = 4}}};
    batch.narrowingLayers = {1};
    QCOMPARE(orderOf(batch), layer + "nppcspa" + behind + "npps");
    batch.narrowingLayers = {2};
    QCOMPARE(orderOf(batch), layer + layer + "nppcs");
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
                           "too few slots",    "too few locals",    "rows without a run", "runs overlap",
                           "draw beyond"};
    for (int fault = 0; fault < 13; ++fault) QTest::newRow(names[fault]) << fault;
  }
  void badBatches() {
    QFETCH(int, fault);
    Fixture fixture("reference");
    Batch batch = Fixture::sequence(kTokens);
    const std::function<void()> faults[] = {
        [&] { batch.tokens[3] = 50; },
        [&] { batch.tokens[3] = -1; },
        [&] { batch.slots[0] = 48; },
        [&] { batch.slots[9] = -1; },
        [&] { batch.logitRows = {10}; },
        [&] { batch.hiddenRows = {10}; },
        [&] { batch.massLayers = {3}; },
        [&] { batch.mass.runs = {1}; },
        [&] { batch.slots.pop_back(); },
        [&] { batch.localIndices.pop_back(); },
        [&] { batch.runs[0].rowCount = 9; },
        [&] { batch.runs.push_back(batch.runs[0]); },
        [&] { batch.draws = {{.logits = 10, .settings = {}, .index = 0}}; },
    };
    faults[fault]();
    QVERIFY_EXCEPTION_THROWN(fixture.decoder.forward(batch, *fixture.store, {}), Failure);
  }

  void anotherModelsStore() {
    Fixture fixture("reference");
    const auto store = fixture.backend->makeKvStore({2, 12, 4, 2, 8, DType::F32});
    QVERIFY_EXCEPTION_THROWN(fixture.decoder.forward(Fixture::sequence(kTokens), *store, {}), Failure);
  }

  /// The first forward pass waits for nothing, and neither do passes of many rows. Then the weights are taken
  /// over, and their source is freed.
  void borrowedWeightsAreTakenOver() {
    std::shared_ptr<const model::WeightSource> weights = model::makeRandomWeights(smallConfig(), 4);
    const std::weak_ptr<const model::WeightSource> source = weights;
    const auto backend = test::makeBackend("cpu", 2);
    model::Decoder decoder(smallConfig(), *weights, *backend, {.lender = weights});
    weights.reset();
    QVERIFY(!source.expired());
    QVERIFY(decoder.own(1));  // at least one weight, and not all
    QVERIFY(!source.expired());
    const auto store = backend->makeKvStore(decoder.kvShape(60, 4, DType::F32));
    decoder.forward(Fixture::sequence(kTokens), *store, {});
    QVERIFY(!source.expired());
    decoder.forward(Fixture::sequence(std::vector<TokenId>(200, 3)), *store, {});
    QVERIFY(!source.expired());
    decoder.forward(Fixture::sequence(kTokens), *store, {});
    QVERIFY(source.expired());
    QVERIFY(!decoder.own(1));
  }

  void onlyAProcessorBorrows() {
    std::shared_ptr<const model::WeightSource> weights = model::makeRandomWeights(smallConfig(), 4);
    const std::weak_ptr<const model::WeightSource> source = weights;
    ReferenceBackend backend;
    model::Decoder decoder(smallConfig(), *weights, backend, {.lender = weights});
    weights.reset();
    QVERIFY(source.expired());
  }

  /// The same span table in passes of any size, on any threads, in any blocks, of borrowed weights: the same
  /// bits.
  void cutsChangeNothing() {
    const std::uint64_t seed = testSeed(21);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    Random random(seed);
    const std::shared_ptr<const model::WeightSource> weights = model::makeRandomWeights(smallConfig(), 4);
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
        const auto backend = test::makeBackend("cpu", threads);
        model::Decoder decoder(smallConfig(), *weights, *backend,
                               {.lender = threads == 3 ? weights : nullptr});
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

SPANSCOPE_TEST(tst_decoder, TestDecoder, QCoreApplication)
#include "tst_decoder.moc"
