// SPDX-License-Identifier: GPL-3.0-or-later
// The CUDA backend on the emulated card: operations against the reference in double precision, whole models
// against logits of transformers and answers of the CPU.
#include "engine/base/error.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/compute/dtype.h"
#include "engine/model/decoder.h"
#include "kernels/cuda/backend/cuda_backend.h"
#include "kernels/cuda/backend/device_key_value_store.h"
#include "kernels/cuda/backend/device_limits.h"
#include "kernels/cuda/backend/device_tensor.h"
#include "tests/kernels/attention_scene.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/passes.h"
#include "tests/support/random_values.h"
#include "tests/support/reference_backend.h"
#include "tests/support/run_segments.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;
using compute::WeightUse;

namespace {

constexpr double kUnit = 0x1p-8;  ///< unit round-off of bf16
/// Of the largest logit of a row, through all layers of a model.
constexpr double kLogitTolerance = 0.05;
/// Of the norm of all logits, of a checkpoint in f32 whose weights are rounded too.
constexpr double kModelError = 0.04;
constexpr const char* kModelData = SPANSCOPE_SOURCE_DIR "/tests/engine/model/data";

std::unique_ptr<compute::Backend> makeDevice(bool exact = false) {
  return cuda::cudaBackendKind().make({.exact = exact});
}

std::unique_ptr<compute::Tensor> uploaded(compute::Backend& backend, const std::vector<float>& values,
                                          std::int64_t rows) {
  auto tensor = backend.makeTensor();
  backend.upload(values, rows, static_cast<std::int64_t>(values.size()) / rows, *tensor);
  return tensor;
}

std::vector<float> downloaded(compute::Backend& backend, const compute::Tensor& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.rows() * tensor.columns()));
  backend.download(tensor, values);
  return values;
}

/// Values as a tensor in bf16 holds them.
std::vector<float> rounded(std::vector<float> values) {
  for (float& value : values) value = compute::floatFromBf16(compute::bf16FromFloat(value));
  return values;
}

QJsonArray readArray(const char* name) {
  QFile file(QString::fromLatin1(kModelData) + QLatin1Char('/') + QString::fromLatin1(name));
  return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).array() : QJsonArray();
}

std::vector<TokenId> idsOf(const QJsonValue& array) {
  std::vector<TokenId> ids;
  for (const auto& id : array.toArray()) ids.push_back(id.toInt());
  return ids;
}

struct Model {
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::WeightSource> weights;
  std::unique_ptr<model::Decoder> decoder;

  explicit Model(const std::filesystem::path& directory, bool exact = false)
      : backend(makeDevice(exact)), weights(model::openSafetensors(directory)) {
    decoder = std::make_unique<model::Decoder>(model::readConfig(directory), *weights, *backend);
  }

  std::vector<float> logits(const std::vector<TokenId>& ids, const std::vector<TestSegment>& segments,
                            std::int32_t blockSize, DType type, const SegmentOptions& options = {}) const {
    const auto shape = decoder->kvShape(blocksNeeded(segments, blockSize, options), blockSize, type);
    const auto store = backend->makeKvStore(shape);
    return runSegments(*decoder, *store, ids, segments, options).logits;
  }
};

}  // namespace

class TestCudaBackend : public QObject {
  Q_OBJECT

 private:
  std::uint64_t m_seed = 0;

 private Q_SLOTS:
  void initTestCase() {
    m_seed = testSeed(20251122);
    qInfo("seed %llu", static_cast<unsigned long long>(m_seed));
  }

  void isFound() {
    const std::vector<compute::Device> devices = cuda::cudaBackendKind().probe();
    QCOMPARE(devices.size(), std::size_t{1});
    QCOMPARE(devices.front().name, std::string("cuda:0"));
    QVERIFY2(devices.front().isUsable(), devices.front().reason.c_str());
    QVERIFY(devices.front().memoryBytes > 0);
    const compute::DeviceInfo info = makeDevice()->info();
    QVERIFY(!info.rowsAreBitEqual);
    QCOMPARE(info.activations, DType::BF16);
    QVERIFY_THROWS_EXCEPTION(Failure, cuda::cudaBackendKind().make({.device = 7}));
  }

  /// What is refused before anything is loaded is what would not fit.
  void memoryIsForetold_data() {
    QTest::addColumn<int>("headSize");
    QTest::addColumn<bool>("isFloat");
    QTest::newRow("whole heads, bf16") << 64 << false;
    QTest::newRow("padded heads, bf16") << 36 << false;
    QTest::newRow("padded heads, f32") << 8 << true;
  }
  void memoryIsForetold() {
    QFETCH(const int, headSize);
    QFETCH(const bool, isFloat);
    const compute::KvShape shape{.layers = 3,
                                 .blocks = 7,
                                 .blockSize = 5,
                                 .heads = 2,
                                 .headSize = headSize,
                                 .type = isFloat ? DType::F32 : DType::BF16};
    const compute::MemoryRules rules = cuda::deviceMemoryRules();
    const cuda::Device device = cuda::Device::open(0);
    const auto work = std::make_shared<cuda::DeviceWork>(device, cuda::DeviceWorkOptions{});
    const std::size_t free = device.freeBytes();
    const cuda::DeviceKeyValueStore store(device, work, shape);
    QCOMPARE(rules.ofStore(shape), std::uint64_t{free - device.freeBytes()});
    // The matrices of a checkpoint in f32, too.
    const auto buffers = std::make_shared<cuda::DeviceBuffers>(device);
    const std::vector<float> values(6 * 4);
    const compute::HostMatrix matrix{.data = reinterpret_cast<const std::byte*>(values.data()),
                                     .format = compute::WeightFormat::F32,
                                     .rows = 6,
                                     .columns = 4};
    const cuda::DeviceWeight weight(device, work, *buffers, matrix, WeightUse::Matrix);
    QCOMPARE(std::uint64_t{weight.bytes()}, rules.ofMatrix(compute::WeightFormat::F32, 6 * 4));
  }

  void ratesAreMeasured() {
    const compute::MachineRates rates =
        cuda::measureDevice(cuda::Device::open(0), {.side = 16, .bytes = 4096, .repeats = 2});
    QVERIFY(rates.flops > 0);
    QVERIFY(rates.bytesPerSecond > 0);
  }

  void productsEqualReference_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<int>("features");
    QTest::addColumn<bool>("hasBias");
    QTest::addColumn<bool>("accumulates");
    QTest::addColumn<bool>("isLogits");
    int number = 0;
    for (const int rows : {1, 3, 17, 64}) {
      for (const int columns : {8, 40, 64}) {
        for (const int features : {8, 24, 72}) {
          ++number;
          QTest::addRow("%d × %d to %d", rows, columns, features)
              << rows << columns << features << (number % 2 == 0) << (number % 3 == 0) << (number % 5 == 0);
        }
      }
    }
  }
  void productsEqualReference() {
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(int, features);
    QFETCH(bool, hasBias);
    QFETCH(bool, accumulates);
    QFETCH(bool, isLogits);
    Random random(m_seed);
    ReferenceBackend reference;
    const auto card = makeDevice();
    const auto count = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
    const std::vector<float> x = rounded(randomValues(random, count(rows, columns)));
    const std::vector<float> before = rounded(randomValues(random, count(rows, features)));
    const HostWeight weight = randomWeight(random, features, columns, DType::BF16, 1.0, 1);
    const HostWeight bias = randomWeight(random, 1, features, DType::F32, 1.0, 1);
    accumulates = accumulates && !isLogits;
    const auto run = [&](compute::Backend& backend) {
      const auto out = accumulates ? uploaded(backend, before, rows) : backend.makeTensor();
      const auto matrix = backend.prepare(weight.view(), isLogits ? WeightUse::Logits : WeightUse::Matrix);
      const auto added = backend.prepare(bias.view(), WeightUse::Vector);
      backend.matmul(*uploaded(backend, x, rows), *matrix, hasBias ? added.get() : nullptr, accumulates,
                     *out);
      return downloaded(backend, *out);
    };
    // Each element: the sum in f32, what it is added to and the result rounded to bf16.
    const double unit = isLogits ? 0x1p-20 : 4 * kUnit;
    const Comparison comparison =
        compareAbsolute(run(*card), run(reference), unit * (std::sqrt(static_cast<double>(columns)) + 4) * 4);
    QVERIFY2(comparison.ok, comparison.text().c_str());
  }

  /// Products wait for others of the same rows, and what they read or write may go meanwhile: the address
  /// sanitizer sees whether it is there still.
  void operandsOfProductsMayGo() {
    Random random(m_seed + 6);
    const auto card = makeDevice();
    const std::vector<float> x = rounded(randomValues(random, 3 * 16));
    const HostWeight weight = randomWeight(random, 24, 16, DType::BF16, 1.0, 1);
    const HostWeight bias = randomWeight(random, 1, 24, DType::F32, 1.0, 1);
    const auto run = [&](compute::Backend& backend) {
      const auto out = backend.makeTensor();
      backend.matmul(*uploaded(backend, x, 3), *backend.prepare(weight.view(), WeightUse::Matrix),
                     backend.prepare(bias.view(), WeightUse::Vector).get(), false, *out);
      {
        const auto rows = uploaded(backend, x, 3);
        const auto brief = backend.makeTensor();
        backend.matmul(*rows, *backend.prepare(weight.view(), WeightUse::Logits), nullptr, false, *brief);
        // Others come to lie where these did.
        rows->resize(100, 160);
      }
      return downloaded(backend, *out);
    };
    ReferenceBackend reference;
    const Comparison comparison = compareAbsolute(run(*card), run(reference), 64 * kUnit);
    QVERIFY2(comparison.ok, comparison.text().c_str());
  }

  void attentionEqualsReference_data() {
    QTest::addColumn<int>("headSize");
    QTest::addColumn<int>("group");
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<int>("rows");
    QTest::addColumn<bool>("isFloat");
    int number = 0;
    for (const int headSize : {2, 6, 16, 24, 32, 64, 80, 128}) {
      for (const int group : {1, 4, 8}) {
        for (const int rows : {1, 23, 70}) {
          const int blockSize = std::vector<int>{1, 5, 16, 32}[static_cast<std::size_t>(number++ % 4)];
          QTest::addRow("heads of %d, %d to a key head, blocks of %d, %d rows", headSize, group, blockSize,
                        rows)
              << headSize << group << blockSize << rows << (number % 4 == 0);
        }
      }
    }
  }
  void attentionEqualsReference() {
    QFETCH(int, headSize);
    QFETCH(int, group);
    QFETCH(int, blockSize);
    QFETCH(int, rows);
    QFETCH(bool, isFloat);
    Random random(m_seed + 1);
    const auto card = makeDevice();
    ReferenceBackend reference;
    const Scene scene = makeScene({.queryHeads = 2 * group,
                                   .keyHeads = 2,
                                   .headSize = headSize,
                                   .blockSize = blockSize,
                                   .type = isFloat ? DType::F32 : DType::BF16,
                                   .segments = 3,
                                   .mostTokens = 90,
                                   .rows = rows},
                                  random);
    const SceneResult actual = runScene(*card, scene);
    const SceneResult expected = runScene(reference, scene);
    const Comparison out = compareAbsolute(actual.out, expected.out, outTolerance(scene, kUnit));
    QVERIFY2(out.ok, (out.text() + " in " + scene.text()).c_str());
    QCOMPARE(actual.mass.size(), expected.mass.size());
    for (std::size_t i = 0; i < expected.mass.size(); ++i) {
      QCOMPARE(actual.mass[i].keyBlocks, expected.mass[i].keyBlocks);
      const double tolerance = weightTolerance(scene, kUnit) * rows;
      const Comparison mass = compareAbsolute(actual.mass[i].mass, expected.mass[i].mass, tolerance);
      QVERIFY2(mass.ok, (mass.text() + " in " + scene.text()).c_str());
      const Comparison first = compareAbsolute(actual.mass[i].first, expected.mass[i].first, tolerance);
      QVERIFY2(first.ok, (first.text() + " in " + scene.text()).c_str());
    }
  }

  /// Rows chosen from the middle of a segment see their own keys, and a batch may be cut anywhere.
  void presentationMattersNot() {
    Random random(m_seed + 2);
    const auto card = makeDevice();
    ReferenceBackend reference;
    const Scene scene = makeScene({.queryHeads = 8,
                                   .keyHeads = 2,
                                   .headSize = 32,
                                   .blockSize = 16,
                                   .type = DType::BF16,
                                   .segments = 4,
                                   .mostTokens = 70,
                                   .rows = 40},
                                  random);
    const auto check = [&](const Presentation& presentation, const char* what) {
      const Comparison comparison =
          compareAbsolute(runScene(*card, scene, presentation).out,
                          runScene(reference, scene, presentation).out, outTolerance(scene, kUnit));
      QVERIFY2(comparison.ok, (std::string(what) + ": " + comparison.text()).c_str());
    };
    check({.blockSeed = 77, .chunks = {}}, "other blocks");
    check({.shift = 90000, .chunks = {}}, "another base");
    check({.chunks = {1, 20, 3, 16}}, "chunks");
    check({.chunks = {30, 10}, .onePassPerChunk = true}, "passes");
    check({.chunks = {5, 30, 5}, .reversed = true}, "reversed");
    check({.chunks = {}, .rows = {0, 3, 4, 5, 17, 39}}, "chosen rows");
  }

  /// Copies go one after the other, also where one reads what another wrote.
  void copiesGoInOrder() {
    const compute::KvShape shape{2, 6, 4, 2, 16, DType::BF16};
    Random random(m_seed + 3);
    const auto card = makeDevice();
    ReferenceBackend reference;
    compute::RotaryTable rotary;
    for (int pair = 0; pair < 8; ++pair) rotary.inverseFrequencies.push_back(std::pow(100.0, -pair / 8.0));
    const std::vector<float> keys = randomValues(random, 4 * 32);
    const std::vector<float> values = randomValues(random, 4 * 32);
    const auto run = [&](compute::Backend& backend) {
      const auto store = backend.makeKvStore(shape);
      for (const std::int32_t layer : {0, 1}) {
        storeTokens(backend, rotary, *uploaded(backend, keys, 4), *uploaded(backend, values, 4), {0, 1, 2, 3},
                    {4, 5, 6, 7}, layer, *store);
      }
      const std::vector<compute::BlockCopy> copies{{1, 2, 4}, {2, 3, 4}, {3, 4, 2}, {1, 5, 4}, {4, 5, 1}};
      backend.copyBlocks(copies, *store);
      std::vector<float> all;
      for (const std::int64_t slot : {8, 11, 12, 15, 16, 17, 20, 21, 23}) {
        std::vector<float> key(32);
        std::vector<float> value(32);
        store->read(1, slot, key, value);
        all.insert(all.end(), key.begin(), key.end());
        all.insert(all.end(), value.begin(), value.end());
      }
      return all;
    };
    const Comparison comparison = compareAbsolute(run(*card), run(reference), 0.05);
    QVERIFY2(comparison.ok, comparison.text().c_str());
  }

  /// Equal logits give the tokens that the CPU draws, whichever rows they are drawn from.
  void drawsAreThoseOfTheCpu() {
    Random random(m_seed + 4);
    const auto card = makeDevice();
    const auto cpu = test::makeBackend("cpu", 1);
    constexpr int kRows = 4;
    constexpr int kWords = 300;
    // One column: logits are products of one factor, exact on both.
    const std::vector<float> x{1.0F, 2.0F, -1.0F, 0.5F};
    const HostWeight weight = randomWeight(random, kWords, 1, DType::BF16, 1.0, 1);
    compute::PassInputs inputs = plainRows(kRows);
    inputs.logitRows = {0, 1, 2, 3};
    std::uint64_t index = 0;
    for (const float temperature : {0.0F, 0.3F, 1.0F, 5.0F}) {
      for (const std::int32_t row : {0, 1, 3, 2, 2}) {
        compute::SamplingSettings settings;
        settings.temperature = temperature;
        settings.topK = row == 2 ? 10 : 0;
        settings.topP = row == 3 ? 0.7F : 1.0F;
        settings.seed = 11;
        inputs.draws.push_back({.logits = row, .settings = settings, .index = index++});
      }
    }
    const auto run = [&](compute::Backend& backend) {
      const auto pass = makePlainPass(backend, inputs);
      const auto logits = backend.makeTensor();
      const auto rows = uploaded(backend, x, kRows);
      const auto matrix = backend.prepare(weight.view(), WeightUse::Logits);
      backend.matmul(*rows, *matrix, nullptr, false, *logits);
      backend.fetch(*pass, *logits);
      backend.sample(*pass, *logits);
      return backend.finish(*pass);
    };
    const compute::PassResults actual = run(*card);
    const compute::PassResults expected = run(*cpu);
    QCOMPARE(actual.fetched, expected.fetched);
    QCOMPARE(actual.tokens.size(), inputs.draws.size());
    for (std::size_t i = 0; i < actual.tokens.size(); ++i) QVERIFY(actual.tokens[i] == expected.tokens[i]);
  }

  void rowsWithTheLargestScoresGoOn() {
    const auto card = makeDevice();
    compute::PassInputs inputs = plainRows(6);
    inputs.localIndices = {0, 1, 2, 3, 4, 5};
    inputs.runs = {{.firstRow = 0, .rowCount = 6, .base = 0, .keys = {}}};
    inputs.narrowings = {{{.runs = 1, .kept = 3}}};
    const auto pass = makePlainPass(*card, inputs);
    std::vector<float> x(6 * 8);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const auto rows = uploaded(*card, x, 6);
    card->narrow(*pass, *uploaded(*card, {1, 5, 2, 9, 0, 7}, 6));
    const auto out = card->makeTensor();
    card->gatherRows(*pass, compute::RowList::Chosen, *rows, *out);
    std::vector<float> expected;
    for (const std::size_t row : {1, 3, 5})
      expected.insert(expected.end(), x.begin() + static_cast<std::ptrdiff_t>(row * 8),
                      x.begin() + static_cast<std::ptrdiff_t>(row * 8 + 8));
    QCOMPARE(downloaded(*card, *out), expected);
    QVERIFY_THROWS_EXCEPTION(Failure, card->narrow(*pass, *uploaded(*card, {1, 2, 3}, 3)));
    const compute::PassResults results = card->finish(*pass);
    QVERIFY(results.fetched.empty());
    QCOMPARE(results.keptRows, (std::vector<std::int32_t>{1, 3, 5}));
  }

  void inputsThatDoNotFitAreFailures() {
    const auto card = makeDevice();
    QVERIFY_THROWS_EXCEPTION(Failure, card->makeKvStore({1, 4, 16, 2, 258, DType::BF16}));
    QVERIFY_THROWS_EXCEPTION(Failure, card->makeKvStore({64, 1 << 20, 16, 8, 128, DType::F32}));
    compute::PassInputs inputs = plainRows(2);
    inputs.slots[1] = 99;
    QVERIFY_THROWS_EXCEPTION(Failure, makePlainPass(*card, inputs));
    inputs.slots.pop_back();
    QVERIFY_THROWS_EXCEPTION(Failure, makePlainPass(*card, inputs));
    const auto tensor = card->makeTensor();
    QVERIFY_THROWS_EXCEPTION(Failure, card->upload(std::vector<float>(5), 2, 3, *tensor));
  }

  void logitsEqualThoseOfTransformers_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("blockSize");
    QTest::addColumn<bool>("isFloat");
    QTest::addColumn<bool>("isExact");
    for (const auto& entry : readArray("golden.json")) {
      const QString name = entry.toObject()["name"].toString();
      for (const bool isExact : {false, true}) {
        const char* const mode = isExact ? ", exact" : "";
        QTest::addRow("%s, blocks of 16, bf16%s", qPrintable(name), mode) << name << 16 << false << isExact;
        QTest::addRow("%s, blocks of 5, f32%s", qPrintable(name), mode) << name << 5 << true << isExact;
      }
    }
  }
  void logitsEqualThoseOfTransformers() {
    QFETCH(QString, name);
    QFETCH(int, blockSize);
    QFETCH(bool, isFloat);
    QFETCH(bool, isExact);
    const std::filesystem::path directory = std::filesystem::path(kModelData) / name.toStdString();
    std::vector<TokenId> ids;
    std::vector<TestSegment> segments;
    for (const auto& entry : readArray("golden.json")) {
      if (entry.toObject()["name"].toString() != name) continue;
      ids = idsOf(entry.toObject()["ids"]);
      segments = parseSegments(entry.toObject()["segments"].toString().toStdString());
    }
    QVERIFY(!ids.empty());
    const checkpoint::MappedFile file(directory / "golden.safetensors");
    const auto parsed = checkpoint::parseSafetensors(file.bytes(), "golden");
    const auto floats = [](const checkpoint::SafetensorsTensor& tensor) {
      std::vector<float> values(tensor.data.size() / sizeof(float));
      std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
      return values;
    };
    const Model model(directory, isExact);
    const DType type = isFloat ? DType::F32 : DType::BF16;
    const std::vector<TestSegment> whole{{false, static_cast<std::int32_t>(ids.size())}};
    const auto check = [&](const std::vector<float>& actual, const char* expected) {
      const double error = relativeError(actual, floats(parsed.tensors.at(expected)));
      qInfo("%s: %.3f of the norm", expected, error);
      QVERIFY(error < kModelError);
    };
    check(model.logits(ids, whole, blockSize, type), "full");
    SegmentOptions options;
    options.rowsPerPass = isFloat ? 7 : 1 << 20;
    check(model.logits(ids, segments, blockSize, type, options), "spans");
    // The measure distinguishes one mask from the other.
    QVERIFY(relativeError(model.logits(ids, whole, blockSize, type), floats(parsed.tensors.at("spans"))) >
            3 * kModelError);
  }

  /// The bundled checkpoint's greedy answers as transformers gives them. Where another token comes first, the
  /// logits of the two differ by less than the error of the arithmetic.
  void bundledModelAnswers_data() {
    QTest::addColumn<bool>("isExact");
    QTest::newRow("default") << false;
    QTest::newRow("exact") << true;
  }
  void bundledModelAnswers() {
    QFETCH(bool, isExact);
    const Model model(std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources/models/spanlet", isExact);
    const auto words = static_cast<std::size_t>(model.decoder->config().vocabularySize);
    int same = 0;
    int all = 0;
    for (const auto& entry : readArray("spanlet.json")) {
      for (const char* mode : {"full", "spans"}) {
        const auto prompt = idsOf(entry.toObject()["ids"]);
        const auto answer = idsOf(entry.toObject()[QLatin1String(mode)]);
        auto segments = parseSegments(entry.toObject()["segments"].toString().toStdString());
        if (std::string_view(mode) == "full") segments = {{false, static_cast<std::int32_t>(prompt.size())}};
        segments.back().length += static_cast<std::int32_t>(answer.size());
        auto tokens = prompt;
        tokens.insert(tokens.end(), answer.begin(), answer.end());
        const auto logits = model.logits(tokens, segments, 16, DType::BF16);
        for (std::size_t i = 0; i < answer.size(); ++i) {
          const auto row = logits.begin() + static_cast<std::ptrdiff_t>((prompt.size() + i - 1) * words);
          const auto best = std::max_element(row, row + static_cast<std::ptrdiff_t>(words));
          const float gap = *best - row[answer[i]];
          QVERIFY2(gap <= static_cast<float>(kLogitTolerance) * std::abs(*best),
                   qPrintable(QString::number(gap)));
          same += gap == 0.0F ? 1 : 0;
          ++all;
        }
      }
    }
    qInfo("%d of %d greedy tokens are those of transformers", same, all);
    QVERIFY(same * 20 >= all * 19);
  }
};

SPANSCOPE_TEST(tst_backend, TestCudaBackend, QCoreApplication)
#include "tst_backend.moc"
