// SPDX-License-Identifier: GPL-3.0-or-later
// The reference has to be right before other backends are compared with it: values calculated by hand, one
// softmax over all keys at once, and its two key layouts compared with each other.
#include "tests/support/compare.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <cmath>
#include <stdexcept>

using namespace spanscope;
using namespace spanscope::testing;
using compute::AttentionShape;
using compute::DType;
using compute::KeyRange;
using compute::KvShape;
using compute::QueryRun;
using compute::WeightUse;

namespace {

std::vector<float> download(ReferenceBackend& backend, const compute::Tensor& x) {
  std::vector<float> out(static_cast<std::size_t>(x.rows() * x.columns()));
  backend.download(x, out);
  return out;
}

std::unique_ptr<compute::Tensor> filled(ReferenceBackend& backend, const std::vector<float>& data,
                                        std::int64_t rows) {
  auto x = backend.makeTensor();
  backend.upload(data, rows, static_cast<std::int64_t>(data.size()) / rows, *x);
  return x;
}

compute::RotaryTable rotaryTable(std::int32_t headSize) {
  compute::RotaryTable table;
  for (std::int32_t i = 0; i < headSize / 2; ++i) {
    table.inverseFrequencies.push_back(std::pow(100.0, -2.0 * i / headSize));
  }
  return table;
}

/// Three segments: two that others read from (one with a hidden prefix), and the rows' own.
struct Scene {
  AttentionShape shape{4, 2, 6, 0.4F};
  KvShape kv{2, 12, 3, 2, 6, DType::F32};
  std::int32_t layer = 1;
  std::vector<QueryRun> runs;
  std::vector<std::int32_t> localIndices;
  std::vector<std::int64_t> keySlots;
  std::vector<float> keys, values, queries;

  explicit Scene(std::uint64_t seed) {
    const std::vector<BlockId> first = {7, 2}, second = {5, 9, 1}, own = {4, 3};
    const auto add = [&](const std::vector<BlockId>& blocks, std::int32_t length) {
      for (std::int32_t j = 0; j < length; ++j) {
        localIndices.push_back(j);
        keySlots.push_back(std::int64_t{blocks[static_cast<std::size_t>(j / 3)]} * 3 + j % 3);
      }
    };
    add(first, 5);
    add(second, 8);
    add(own, 6);
    QueryRun run;
    run.firstRow = 1;  // row 0 belongs to nobody
    run.rowCount = 4;
    run.base = 11;
    run.keys = {KeyRange{first, 0, 5, 0, false}, KeyRange{second, 2, 8, 3, false},
                KeyRange{own, 0, 6, 11, true}};
    runs = {run};
    Random random(seed);
    keys = randomValues(random, localIndices.size() * 12);
    values = randomValues(random, localIndices.size() * 12);
    queries = randomValues(random, 5 * 24);
  }

  std::vector<float> attend(ReferenceBackend& backend, std::vector<compute::RunMass>* mass) const {
    const auto table = rotaryTable(shape.headSize);
    const auto store = backend.makeKvStore(kv);
    const auto rows = static_cast<std::int64_t>(localIndices.size());
    const auto k = filled(backend, keys, rows);
    const auto v = filled(backend, values, rows);
    storeTokens(backend, table, *k, *v, localIndices, keySlots, layer, *store);
    compute::PassInputs inputs = plainRows(5);
    inputs.localIndices = {0, 2, 3, 4, 5};
    inputs.runs = runs;
    inputs.mass.runs = {0};
    const auto pass = backend.makePass(shape, table, kv, inputs);
    const auto q = filled(backend, queries, 5);
    const auto out = backend.makeTensor();
    backend.attend(*pass, *q, *store, layer, mass != nullptr, *out);
    const compute::PassResults results = backend.finish(*pass);
    if (mass != nullptr) *mass = results.mass.at(0).runs;
    const auto all = download(backend, *out);
    return {all.begin() + 24, all.end()};
  }

  /// One softmax over all visible keys of the view, everything turned by its position in the view.
  std::vector<float> attendAtOnce() const {
    const auto table = rotaryTable(shape.headSize);
    const std::size_t first[] = {0, 5, 13};
    const auto turned = [&](const float* head, std::int64_t position) {
      std::vector<double> out(6);
      for (std::size_t i = 0; i < 3; ++i) {
        const double angle = static_cast<double>(position) * table.inverseFrequencies[i];
        const double a = static_cast<double>(head[i]), b = static_cast<double>(head[i + 3]);
        out[i] = a * std::cos(angle) - b * std::sin(angle);
        out[i + 3] = b * std::cos(angle) + a * std::sin(angle);
      }
      return out;
    };
    std::vector<float> result;
    for (std::size_t r = 0; r < 4; ++r) {
      for (std::size_t head = 0; head < 4; ++head) {
        const auto position = 13 + static_cast<std::int64_t>(r);
        const auto query = turned(queries.data() + (r + 1) * 24 + head * 6, position);
        double sum = 0;
        std::vector<double> out(6, 0.0);
        for (std::size_t s = 0; s < 3; ++s) {
          const KeyRange& range = runs[0].keys[s];
          for (std::int32_t j = range.begin; j < range.end; ++j) {
            if (range.base + j > position) continue;
            const std::size_t row = (first[s] + static_cast<std::size_t>(j)) * 12 + (head / 2) * 6;
            const auto key = turned(keys.data() + row, range.base + j);
            double score = 0;
            for (std::size_t d = 0; d < 6; ++d) score += query[d] * key[d];
            const double weight = std::exp(score * 0.4F);
            sum += weight;
            for (std::size_t d = 0; d < 6; ++d) out[d] += weight * static_cast<double>(values[row + d]);
          }
        }
        for (const double value : out) result.push_back(static_cast<float>(value / sum));
      }
    }
    return result;
  }
};

}  // namespace

class TestReferenceBackend : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void operationsByHand() {
    ReferenceBackend backend;
    const HostWeight matrix({1, 2, 3, 4, 5, 6}, 3, 2, DType::F32);
    const HostWeight vector({10, 20, 30}, 1, 3, DType::BF16);
    const auto weight = backend.prepare(matrix.view(), WeightUse::Matrix);
    const auto bias = backend.prepare(vector.view(), WeightUse::Vector);
    const auto x = filled(backend, {1, 1, 2, -1}, 2);
    const auto out = backend.makeTensor();
    backend.matmul(*x, *weight, nullptr, false, *out);
    QCOMPARE(download(backend, *out), (std::vector<float>{3, 7, 11, 0, 2, 4}));
    backend.matmul(*x, *weight, bias.get(), true, *out);
    QCOMPARE(download(backend, *out), (std::vector<float>{16, 34, 52, 10, 24, 38}));

    const auto table = backend.prepare(matrix.view(), WeightUse::Embedding);
    compute::PassInputs inputs = plainRows(2);
    inputs.tokens = {2, 0};
    inputs.logitRows = {1};
    inputs.hiddenRows = {0};
    const auto pass = makePlainPass(backend, inputs);
    backend.embed(*pass, *table, *out);
    QCOMPARE(download(backend, *out), (std::vector<float>{5, 6, 1, 2}));
    const auto wanted = backend.makeTensor();
    backend.gatherRows(*pass, compute::RowList::Wanted, *out, *wanted);
    QCOMPARE(download(backend, *wanted), (std::vector<float>{1, 2, 5, 6}));
    const auto logitRows = backend.makeTensor();
    backend.gatherRows(*pass, compute::RowList::Logits, *wanted, *logitRows);
    QCOMPARE(download(backend, *logitRows), (std::vector<float>{1, 2}));

    const HostWeight scale({2, 1}, 1, 2, DType::F32);
    const auto normWeight = backend.prepare(scale.view(), WeightUse::Vector);
    const auto y = filled(backend, {3, 4}, 1);
    backend.rmsNorm(*y, *normWeight, 0.5F, *out);  // mean of squares 12.5, and 0.5 to it: √13
    const auto normed = download(backend, *out);
    QVERIFY(std::abs(normed[0] - 6 / std::sqrt(13.0F)) < 1e-6F);
    QVERIFY(std::abs(normed[1] - 4 / std::sqrt(13.0F)) < 1e-6F);

    const auto gate = filled(backend, {0, 1}, 1);
    const auto up = filled(backend, {5, 2}, 1);
    backend.multiplyGated(compute::Activation::Silu, *gate, *up, *gate);
    const auto activated = download(backend, *gate);
    QCOMPARE(activated[0], 0.0F);
    QVERIFY(std::abs(activated[1] - 2 / (1 + std::exp(-1.0F))) < 1e-6F);
  }

  void attentionEqualsOneSoftmax() {
    const std::uint64_t seed = testSeed(11);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    const Scene scene(seed);
    const auto expected = scene.attendAtOnce();
    for (const KeyLayout layout : {KeyLayout::LocalRotation, KeyLayout::Raw}) {
      ReferenceBackend backend(layout);
      std::vector<compute::RunMass> mass;
      const auto result = compareAbsolute(scene.attend(backend, &mass), expected, 1e-6);
      QVERIFY2(result.ok, result.text().c_str());
      QCOMPARE(mass.size(), std::size_t{1});
      QCOMPARE(mass[0].keyBlocks, (std::vector<std::int32_t>{2, 3, 2}));
      QCOMPARE(mass[0].mass.size(), std::size_t{4 * 7});
      for (std::size_t head = 0; head < 4; ++head) {
        double sum = 0;
        for (std::size_t block = 0; block < 7; ++block)
          sum += static_cast<double>(mass[0].mass[head * 7 + block]);
        QVERIFY(std::abs(sum - 4) < 1e-5);
      }
    }
  }

  void layoutsAgreeAtAnyBase() {
    const std::uint64_t seed = testSeed(12);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    Scene scene(seed);
    ReferenceBackend local;
    ReferenceBackend raw(KeyLayout::Raw);
    const auto here = scene.attend(local, nullptr);
    for (QueryRun& run : scene.runs) {
      run.base += 5000;
      for (KeyRange& range : run.keys) range.base += 5000;
    }
    QCOMPARE(scene.attend(local, nullptr), here);
    const auto result = compareAbsolute(scene.attend(raw, nullptr), here, 1e-6);
    QVERIFY2(result.ok, result.text().c_str());
  }

  void unwrittenSlotsShow() {
    Scene scene(13);
    scene.runs[0].keys[1].blocks[2] = 10;
    ReferenceBackend backend;
    QVERIFY(std::isnan(scene.attend(backend, nullptr)[0]));
  }

  void bf16StoreRounds() {
    ReferenceBackend backend;
    const auto store = backend.makeKvStore({1, 2, 2, 1, 2, DType::BF16});
    const auto k = filled(backend, {1.00390625F, 2}, 1);
    storeTokens(backend, rotaryTable(2), *k, *k, {0}, {3}, 0, *store);
    float key[2] = {}, value[2] = {};
    store->read(0, 3, key, value);
    QCOMPARE(key[0], 1.0F);
    QCOMPARE(value[1], 2.0F);
    const compute::BlockCopy copy{1, 0, 2};
    backend.copyBlocks(std::span(&copy, 1), *store);
    store->read(0, 1, key, value);
    QCOMPARE(key[1], 2.0F);
    store->read(0, 0, key, value);
    QVERIFY(std::isnan(key[0]));
  }

  void misuseIsRefused() {
    ReferenceBackend backend;
    const HostWeight matrix({1, 2, 3, 4}, 2, 2, DType::F32);
    const auto table = backend.prepare(matrix.view(), WeightUse::Embedding);
    const auto out = backend.makeTensor();
    compute::PassInputs inputs = plainRows(1);
    inputs.tokens = {2};
    const auto beyond = makePlainPass(backend, inputs);
    QVERIFY_EXCEPTION_THROWN(backend.embed(*beyond, *table, *out), std::logic_error);
    const auto x = filled(backend, {1, 2}, 1);
    QVERIFY_EXCEPTION_THROWN(backend.matmul(*x, *table, nullptr, false, *out), std::logic_error);
    Scene scene(14);
    scene.runs[0].keys[1].blocks[1] = 12;
    QVERIFY_EXCEPTION_THROWN(scene.attend(backend, nullptr), std::logic_error);
  }
};

SPANSCOPE_TEST(tst_reference_backend, TestReferenceBackend)
#include "tst_reference_backend.moc"
