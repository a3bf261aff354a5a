// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA backend where rows have to be bit-equal, on the emulated card: a row has the same bits whatever is
// computed beside it, however a prompt was cut into passes, and wherever its blocks lie.
#include "engine/compute/dtype.h"
#include "engine/model/decoder.h"
#include "engine/model/weights.h"
#include "kernels/cuda/backend/cuda_backend.h"
#include "tests/kernels/attention_scene.h"
#include "tests/support/compare.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/run_segments.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using compute::WeightUse;

namespace {

std::unique_ptr<compute::Backend> makeDevice(bool exact = true) {
  return cuda::cudaBackendKind().make({.exact = exact});
}

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::vector<float> rowsOf(const std::vector<float>& all, const std::vector<std::size_t>& rows,
                          std::size_t width) {
  std::vector<float> some;
  for (const std::size_t row : rows) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * width);
    some.insert(some.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
  }
  return some;
}

/// A small model. Heads of 32 in bf16 are read by tensor cores, others not.
model::ModelConfig configOf(std::int32_t headSize) {
  model::ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.vocabularySize = 70;
  config.hiddenSize = 48;
  config.intermediateSize = 72;
  config.layers = 2;
  config.heads = 4;
  config.keyValueHeads = 2;
  config.headSize = headSize;
  config.tiedEmbeddings = true;
  config.maxPositions = 4096;
  return config;
}

/// A prompt's logits, and what its blocks hold in the last layer.
struct Computed {
  std::vector<float> logits;
  std::vector<float> keysAndValues;  ///< by token
};

class Model {
 public:
  Model(std::int32_t headSize, DType type)
      : m_type(type),
        m_backend(makeDevice()),
        m_weights(model::makeRandomWeights(configOf(headSize), 3)),
        m_decoder(configOf(headSize), *m_weights, *m_backend) {}

  Computed compute(const std::vector<TokenId>& tokens, const std::vector<TestSegment>& segments,
                   const SegmentOptions& options = {}) {
    constexpr std::int32_t kBlockSize = 16;
    const compute::KvShape shape =
        m_decoder.kvShape(blocksNeeded(segments, kBlockSize, options), kBlockSize, m_type);
    const auto store = m_backend->makeKvStore(shape);
    Computed computed{runSegments(m_decoder, *store, tokens, segments, options).logits, {}};
    BlockId block = options.firstBlock;
    for (const TestSegment& segment : segments) {
      for (std::int32_t local = 0; local < segment.length; ++local) {
        std::vector<float> key(index(shape.heads) * index(shape.headSize));
        std::vector<float> value(key.size());
        const std::int64_t slot =
            std::int64_t{block + local / kBlockSize * options.blockStep} * kBlockSize + local % kBlockSize;
        store->read(shape.layers - 1, slot, key, value);
        computed.keysAndValues.insert(computed.keysAndValues.end(), key.begin(), key.end());
        computed.keysAndValues.insert(computed.keysAndValues.end(), value.begin(), value.end());
      }
      block += (segment.length + kBlockSize - 1) / kBlockSize * options.blockStep;
    }
    return computed;
  }

 private:
  DType m_type;
  std::unique_ptr<compute::Backend> m_backend;
  std::unique_ptr<model::WeightSource> m_weights;
  model::Decoder m_decoder;
};

void addModels() {
  QTest::addColumn<int>("headSize");
  QTest::addColumn<bool>("isFloat");
  QTest::newRow("tensor cores") << 32 << false;
  QTest::newRow("heads of 16") << 16 << false;
  QTest::newRow("keys in f32") << 32 << true;
}

}  // namespace

class TestCudaExactBackend : public QObject {
  Q_OBJECT

 private:
  std::uint64_t m_seed = testSeed(20251203);

  std::vector<TokenId> randomTokens(std::int32_t count) const {
    Random random(m_seed + 9);
    std::vector<TokenId> tokens(index(count));
    for (TokenId& token : tokens) token = static_cast<TokenId>(random.below(70));
    return tokens;
  }

 private Q_SLOTS:
  void initTestCase() { qInfo("seed %llu", static_cast<unsigned long long>(m_seed)); }

  /// What is asked for is said, and nothing is claimed where it was not.
  void isSaid() {
    const compute::DeviceInfo plain = makeDevice(false)->info();
    const compute::DeviceInfo exact = makeDevice(true)->info();
    QVERIFY(!plain.rowsAreBitEqual);
    QVERIFY(exact.rowsAreBitEqual);
    QVERIFY(plain.numericRevision != exact.numericRevision);
    QVERIFY(plain.numericRevision.find("/default/") != std::string::npos);
    QVERIFY(exact.numericRevision.find("/exact/") != std::string::npos);
    QVERIFY(exact.numericRevision.find(plain.name) != std::string::npos);
    QVERIFY(exact.numericRevision.find("CUDA") != std::string::npos);
    QCOMPARE(exact.name, plain.name + ", exact");
  }

  void productsDependOnTheRowAlone_data() {
    QTest::addColumn<bool>("hasBias");
    QTest::addColumn<bool>("accumulates");
    QTest::addColumn<bool>("isLogits");
    for (const bool hasBias : {false, true}) {
      for (const bool accumulates : {false, true}) {
        QTest::addRow("matrix%s%s", hasBias ? ", bias" : "", accumulates ? ", added" : "")
            << hasBias << accumulates << false;
      }
    }
    QTest::newRow("logits") << false << false << true;
  }
  void productsDependOnTheRowAlone() {
    QFETCH(bool, hasBias);
    QFETCH(bool, accumulates);
    QFETCH(bool, isLogits);
    constexpr std::size_t kRows = 70;
    constexpr std::size_t kColumns = 200;
    constexpr std::size_t kFeatures = 90;
    Random random(m_seed);
    const auto card = makeDevice();
    const std::vector<float> x = randomValues(random, kRows * kColumns);
    const std::vector<float> before = randomValues(random, kRows * kFeatures);
    const HostWeight weight = randomWeight(random, kFeatures, kColumns, DType::BF16, 1.0, 1);
    const HostWeight bias = randomWeight(random, 1, kFeatures, DType::F32, 1.0, 1);
    const auto matrix = card->prepare(weight.view(), isLogits ? WeightUse::Logits : WeightUse::Matrix);
    const auto added = card->prepare(bias.view(), WeightUse::Vector);
    const auto multiply = [&](const std::vector<std::size_t>& rows) {
      const auto from = card->makeTensor();
      const auto out = card->makeTensor();
      const auto count = static_cast<std::int64_t>(rows.size());
      card->upload(rowsOf(x, rows, kColumns), count, kColumns, *from);
      if (accumulates) card->upload(rowsOf(before, rows, kFeatures), count, kFeatures, *out);
      card->matmul(*from, *matrix, hasBias ? added.get() : nullptr, accumulates, *out);
      std::vector<float> values(rows.size() * kFeatures);
      card->download(*out, values);
      return values;
    };
    std::vector<std::size_t> rows(kRows);
    std::iota(rows.begin(), rows.end(), 0U);
    const std::vector<float> all = multiply(rows);
    for (const std::vector<std::size_t>& some : std::vector<std::vector<std::size_t>>{
             {0}, {69}, {5, 3}, {64, 1, 17}, {rows.rbegin(), rows.rend()}, {rows.begin() + 9, rows.end()}})
      QVERIFY(sameBits(multiply(some), rowsOf(all, some, kFeatures)));
  }

  void attentionDependsOnTheRowAlone_data() {
    QTest::addColumn<int>("headSize");
    QTest::addColumn<int>("group");
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<int>("mostTokens");
    QTest::addColumn<bool>("isFloat");
    int number = 0;
    for (const int headSize : {16, 32, 64, 80, 128}) {
      for (const int group : {1, 5}) {
        ++number;
        const int blockSize = std::vector<int>{1, 5, 16, 100}[index(number % 4)];
        const int mostTokens = headSize == 32 ? 700 : 90;
        QTest::addRow("heads of %d, %d to a key head, blocks of %d", headSize, group, blockSize)
            << headSize << group << blockSize << mostTokens << (number % 5 == 0);
      }
    }
  }
  void attentionDependsOnTheRowAlone() {
    QFETCH(int, headSize);
    QFETCH(int, group);
    QFETCH(int, blockSize);
    QFETCH(int, mostTokens);
    QFETCH(bool, isFloat);
    Random random(m_seed + 1);
    const auto card = makeDevice();
    const Scene scene = makeScene({.queryHeads = 2 * group,
                                   .keyHeads = 2,
                                   .headSize = headSize,
                                   .blockSize = blockSize,
                                   .type = isFloat ? DType::F32 : DType::BF16,
                                   .segments = 3,
                                   .mostTokens = mostTokens,
                                   .rows = 30},
                                  random);
    const std::vector<float> expected = runScene(*card, scene).out;
    ReferenceBackend reference;
    const Comparison right =
        compareAbsolute(expected, runScene(reference, scene).out, outTolerance(scene, 0x1p-8));
    QVERIFY2(right.ok, (right.text() + " in " + scene.text()).c_str());
    const auto check = [&](const Presentation& presentation, const char* what) {
      QVERIFY2(sameBits(runScene(*card, scene, presentation).out, expected),
               (std::string(what) + " in " + scene.text()).c_str());
    };
    check({.blockSeed = 77, .chunks = {}}, "other blocks");
    check({.shift = 90000, .chunks = {}}, "another base");
    check({.chunks = {1, 12, 3, 14}}, "chunks");
    check({.chunks = {20, 10}, .onePassPerChunk = true}, "passes");
    check({.chunks = {5, 20, 5}, .reversed = true}, "reversed");
    check({.chunks = std::vector<std::int32_t>(30, 1), .onePassPerChunk = true}, "row by row");
    const std::vector<std::int32_t> rows{0, 3, 4, 5, 17, 29};
    const std::vector<float> some = runScene(*card, scene, {.chunks = {}, .rows = rows}).out;
    const std::size_t width = index(scene.shape.queryHeads) * index(headSize);
    const std::vector<std::size_t> chosen(rows.begin(), rows.end());
    QVERIFY2(sameBits(rowsOf(some, chosen, width), rowsOf(expected, chosen, width)), scene.text().c_str());
  }

  /// The same tokens in one pass, in several, one by one as they are generated, in other blocks, with their
  /// attention observed or not: the same logits, and the same blocks.
  void promptsMayBeCutAnywhere_data() { addModels(); }
  void promptsMayBeCutAnywhere() {
    QFETCH(int, headSize);
    QFETCH(bool, isFloat);
    Model model(headSize, isFloat ? DType::F32 : DType::BF16);
    const std::vector<TokenId> tokens = randomTokens(100);
    const std::vector<TestSegment> segments{{false, 3}, {true, 38}, {true, 40}, {false, 19}};
    const Computed expected = model.compute(tokens, segments);
    const auto check = [&](const SegmentOptions& options, const char* what) {
      const Computed actual = model.compute(tokens, segments, options);
      QVERIFY2(sameBits(actual.logits, expected.logits), what);
      QVERIFY2(sameBits(actual.keysAndValues, expected.keysAndValues), what);
    };
    for (const std::int32_t rows : {1, 7, 41}) check({.rowsPerPass = rows, .massLayers = {}}, "passes");
    check({.firstBlock = 5, .blockStep = 2, .massLayers = {}}, "blocks");
    check({.massLayers = {0, 1}}, "mass");
    check({.rowsPerPass = 7, .firstBlock = 9, .massLayers = {1}}, "mass, in passes");
  }

  /// Beyond the keys that are summed together.
  void longPromptsMayBeCutAnywhere() {
    Model model(32, DType::BF16);
    const std::vector<TokenId> tokens = randomTokens(600);
    const std::vector<TestSegment> segments{{true, 530}, {false, 70}};
    const Computed expected = model.compute(tokens, segments);
    for (const std::int32_t rows : {64, 333}) {
      const Computed actual = model.compute(tokens, segments, {.rowsPerPass = rows, .massLayers = {}});
      QVERIFY(sameBits(actual.logits, expected.logits));
      QVERIFY(sameBits(actual.keysAndValues, expected.keysAndValues));
    }
  }

  /// A segment's blocks have the same bits at any place in a prompt and beside any others, so that reused
  /// blocks equal recomputed ones.
  void reusedBlocksAreRecomputedOnes_data() { addModels(); }
  void reusedBlocksAreRecomputedOnes() {
    QFETCH(int, headSize);
    QFETCH(bool, isFloat);
    Model model(headSize, isFloat ? DType::F32 : DType::BF16);
    const std::vector<TokenId> all = randomTokens(90);
    const std::vector<TokenId> first(all.begin(), all.begin() + 33);
    const std::vector<TokenId> second(all.begin() + 33, all.begin() + 80);
    const std::vector<TokenId> question(all.begin() + 80, all.end());
    const auto joined = [](std::initializer_list<std::vector<TokenId>> parts) {
      std::vector<TokenId> tokens;
      for (const std::vector<TokenId>& part : parts) tokens.insert(tokens.end(), part.begin(), part.end());
      return tokens;
    };
    const Computed alone = model.compute(first, {{true, 33}});
    const Computed together =
        model.compute(joined({first, second, question}), {{true, 33}, {true, 47}, {false, 10}});
    const Computed swapped =
        model.compute(joined({second, first, question}), {{true, 47}, {true, 33}, {false, 10}});
    const std::size_t width = alone.keysAndValues.size() / 33;
    const auto blocksOf = [&](const Computed& computed, std::size_t begin, std::size_t count) {
      std::vector<std::size_t> rows(count);
      std::iota(rows.begin(), rows.end(), begin);
      return rowsOf(computed.keysAndValues, rows, width);
    };
    QVERIFY(sameBits(blocksOf(together, 0, 33), alone.keysAndValues));
    QVERIFY(sameBits(blocksOf(swapped, 47, 33), alone.keysAndValues));
    QVERIFY(sameBits(blocksOf(swapped, 0, 47), blocksOf(together, 33, 47)));
    QVERIFY(!sameBits(blocksOf(swapped, 80, 10), blocksOf(together, 80, 10)));  // it sees another order
  }
};

SPANSCOPE_TEST(tst_exact_backend, TestCudaExactBackend, QCoreApplication)
#include "tst_exact_backend.moc"
