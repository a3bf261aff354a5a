// SPDX-License-Identifier: GPL-3.0-or-later
// The decoder against logits that transformers computed for small random checkpoints (data/make_logits.py and
// data/make_families.py),
// with plain causal attention and with the block-diagonal mask of independent segments.
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/compute/dtype.h"
#include "engine/model/decoder.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
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
#include <memory>
#include <numeric>
#include <set>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;

namespace {

constexpr double kTolerance = 1e-4;      // of the largest logit of the row
constexpr double kFastTolerance = 2e-2;  // the same, with activations rounded to what is multiplied fastest
constexpr const char* kFast = "cpu, fast";
constexpr const char* kRounding = "reference, rounding";

/// The reference, whose activations are rounded to bf16 where they meet bf16 weights: what fast arithmetic
/// does, by the definition. Rounding them changes the logits of these small random models by up to a seventh
/// of the largest, in transformers as well, so they are no measure for it.
class RoundingReference : public ReferenceBackend {
 public:
  std::unique_ptr<compute::Weight> prepare(const compute::HostMatrix& matrix,
                                           compute::WeightUse use) override {
    auto weight = ReferenceBackend::prepare(matrix, use);
    if (matrix.format == compute::WeightFormat::BF16) m_rounding.insert(weight.get());
    return weight;
  }
  void matmul(const compute::Tensor& x, const compute::Weight& weight, const compute::Weight* bias,
              bool accumulate, compute::Tensor& out) override {
    if (!m_rounding.contains(&weight)) return ReferenceBackend::matmul(x, weight, bias, accumulate, out);
    std::vector<float> values(static_cast<std::size_t>(x.rows() * x.columns()));
    download(x, values);
    for (float& value : values) value = compute::floatFromBf16(compute::bf16FromFloat(value));
    const auto rounded = makeTensor();
    upload(values, x.rows(), x.columns(), *rounded);
    ReferenceBackend::matmul(*rounded, weight, bias, accumulate, out);
  }

 private:
  std::set<const compute::Weight*> m_rounding;
};

struct Golden {
  std::vector<TokenId> ids;
  std::vector<TestSegment> segments;
  std::vector<float> full, spans;
  std::int64_t context = 0;  ///< for which the model is opened; 0: the default
};

std::vector<float> floats(const checkpoint::SafetensorsTensor& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

std::filesystem::path dataDirectory(const QString& name) {
  return std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / name.toStdString();
}

QJsonArray readArray(const QString& name) {
  QFile file(QString(SPANSCOPE_TEST_DATA_DIR "/") + name);
  return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).array() : QJsonArray();
}

QJsonArray goldenCases() {
  QJsonArray cases = readArray("golden.json");
  for (const auto& entry : readArray("families.json")) cases.append(entry);
  return cases;
}

std::vector<TokenId> idsOf(const QJsonValue& array) {
  std::vector<TokenId> ids;
  for (const auto& id : array.toArray()) ids.push_back(id.toInt());
  return ids;
}

Golden readGolden(const QString& name) {
  Golden golden;
  for (const auto& entry : goldenCases()) {
    if (entry.toObject()["name"].toString() != name) continue;
    golden.ids = idsOf(entry.toObject()["ids"]);
    golden.context = entry.toObject()["context"].toInteger();
    golden.segments = parseSegments(entry.toObject()["segments"].toString().toStdString());
  }
  const checkpoint::MappedFile file(dataDirectory(name) / "golden.safetensors");
  const auto parsed = checkpoint::parseSafetensors(file.bytes(), "golden");
  golden.full = floats(parsed.tensors.at("full"));
  golden.spans = floats(parsed.tensors.at("spans"));
  return golden;
}

bool cpuHasPairs(const compute::Backend& backend) {
  return backend.info().numericRevision.find("bf16 ") != std::string::npos;
}

std::unique_ptr<compute::Backend> makeBackend(const QString& name) {
  if (name == "reference") return std::make_unique<ReferenceBackend>();
  if (name == "reference, raw keys") return std::make_unique<ReferenceBackend>(KeyLayout::Raw);
  if (name == "cpu") return test::makeBackend();
  if (name == kRounding) return std::make_unique<RoundingReference>();
  if (name == kFast) return test::makeBackend("cpu", 2, false, compute::Arithmetic::Fast);
  return nullptr;
}

/// A checkpoint on a backend.
struct Model {
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::WeightSource> weights;
  std::unique_ptr<model::Decoder> decoder;

  /// `context`: tokens for which the model is opened; 0: the default.
  Model(const std::filesystem::path& directory, const QString& backendName, std::int64_t context = 0)
      : backend(makeBackend(backendName)) {
    model::ModelConfig config = model::readConfig(directory);
    if (context > 0) model::fixContext(config, context);
    weights = model::openWeights(directory, config);
    decoder = std::make_unique<model::Decoder>(config, *weights, *backend);
  }

  SegmentsResult run(const std::vector<TokenId>& ids, const std::vector<TestSegment>& segments,
                     std::int32_t blockSize, const SegmentOptions& options = {}) const {
    const auto shape = decoder->kvShape(blocksNeeded(segments, blockSize, options), blockSize, DType::F32);
    const auto store = backend->makeKvStore(shape);
    return runSegments(*decoder, *store, ids, segments, options);
  }
};

}  // namespace

class TestDecoderLogits : public QObject {
  Q_OBJECT

 private:
  double m_worst = 0;  ///< error in units of the largest logit of its row

  void compare(const std::vector<float>& actual, const std::vector<float>& expected, std::size_t columns) {
    const auto result = compareRows(actual, expected, columns, kTolerance);
    QVERIFY2(result.ok, result.text().c_str());
    m_worst = std::max(m_worst, kTolerance * std::abs(result.actual - result.expected) / result.tolerance);
  }

  static void addRows() {
    QTest::addColumn<QString>("checkpoint");
    QTest::addColumn<QString>("backend");
    for (const auto& entry : goldenCases()) {
      const QString name = entry.toObject()["name"].toString();
      for (const char* backend : {"reference", "reference, raw keys", "cpu"}) {
        QTest::addRow("%s on %s", qPrintable(name), backend) << name << QString(backend);
      }
    }
  }

 private Q_SLOTS:
  void allCasesAreThere() {
    qsizetype folders = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dataDirectory({})))
      folders += std::filesystem::exists(entry.path() / "config.json") &&
                         std::filesystem::exists(entry.path() / "golden.safetensors")
                     ? 1
                     : 0;
    QVERIFY(folders > 0);
    QCOMPARE(goldenCases().size(), folders);
  }

  void fullAttention_data() { addRows(); }
  void fullAttention() {
    QFETCH(QString, checkpoint);
    QFETCH(QString, backend);
    const Golden golden = readGolden(checkpoint);
    const Model model(dataDirectory(checkpoint), backend, golden.context);
    const auto columns = static_cast<std::size_t>(model.decoder->config().vocabularySize);
    const std::vector<TestSegment> whole = {{false, static_cast<std::int32_t>(golden.ids.size())}};
    const auto result =
        compareRows(model.run(golden.ids, whole, 16).logits, golden.full, columns, kTolerance);
    QVERIFY2(result.ok, result.text().c_str());
  }

  void blockAttention_data() { addRows(); }
  void blockAttention() {
    QFETCH(QString, checkpoint);
    QFETCH(QString, backend);
    const Golden golden = readGolden(checkpoint);
    const Model model(dataDirectory(checkpoint), backend, golden.context);
    const auto columns = static_cast<std::size_t>(model.decoder->config().vocabularySize);
    for (const std::int32_t blockSize : {16, 5, 1}) {
      SegmentOptions options;
      options.rowsPerPass = blockSize == 5 ? 7 : 1 << 20;
      options.blockStep = blockSize == 5 ? 2 : 1;
      const auto logits = model.run(golden.ids, golden.segments, blockSize, options).logits;
      compare(logits, golden.spans, columns);
    }
  }

  void fastIsTheReferenceThatRounds_data() {
    QTest::addColumn<QString>("checkpoint");
    for (const auto& entry : goldenCases()) {
      const QString name = entry.toObject()["name"].toString();
      // Activations become bytes where they meet packed weights.
      if (name != "gpt_oss_mxfp4") QTest::newRow(qPrintable(name)) << name;
    }
  }
  void fastIsTheReferenceThatRounds() {
    QFETCH(QString, checkpoint);
    const Golden golden = readGolden(checkpoint);
    const Model fast(dataDirectory(checkpoint), kFast, golden.context);
    const bool rounds = cpuHasPairs(*fast.backend);
    const Model reference(dataDirectory(checkpoint), rounds ? kRounding : "reference", golden.context);
    const auto columns = static_cast<std::size_t>(fast.decoder->config().vocabularySize);
    const std::vector<TestSegment> whole = {{false, static_cast<std::int32_t>(golden.ids.size())}};
    for (const std::vector<TestSegment>& segments : {whole, golden.segments}) {
      const auto result =
          compareRows(fast.run(golden.ids, segments, 16).logits,
                      reference.run(golden.ids, segments, 16).logits, columns, kFastTolerance);
      QVERIFY2(result.ok, result.text().c_str());
    }
  }

  /// What is held to a wider bound has other numbers, where the processor has other products.
  void fastIsAnotherArithmetic() {
    const Golden golden = readGolden("bf16_gqa_tied");
    const Model plain(dataDirectory("bf16_gqa_tied"), "cpu");
    const Model fast(dataDirectory("bf16_gqa_tied"), kFast);
    // A processor with products of bytes alone computes with these weights in f32.
    const bool isSame = fast.backend->info().name.find("bf16 ") == std::string::npos;
    const auto logits = fast.run(golden.ids, golden.segments, 16).logits;
    QCOMPARE(logits == plain.run(golden.ids, golden.segments, 16).logits, isSame);
    // Whatever is computed beside a row.
    SegmentOptions options;
    options.rowsPerPass = 7;
    QVERIFY(logits == fast.run(golden.ids, golden.segments, 16, options).logits);
  }

  /// A bf16 store is a coarser thing, but the same thing.
  void bf16Store() {
    const Golden golden = readGolden("bf16_gqa_tied");
    const Model model(dataDirectory("bf16_gqa_tied"), "reference");
    const auto store = model.backend->makeKvStore(
        model.decoder->kvShape(blocksNeeded(golden.segments, 16), 16, DType::BF16));
    const auto logits = runSegments(*model.decoder, *store, golden.ids, golden.segments).logits;
    QVERIFY(compareRows(logits, golden.spans, 128, 0.05).ok);
    QVERIFY(!compareRows(logits, golden.spans, 128, kTolerance).ok);
  }

  /// The bundled checkpoint's greedy answers, token by token, as transformers gives them.
  void bundledModel_data() {
    QTest::addColumn<QString>("backend");
    QTest::newRow("reference") << "reference";
    QTest::newRow("cpu") << "cpu";
    QTest::newRow(kFast) << kFast;
  }
  void bundledModel() {
    QFETCH(QString, backend);
    const Model model(std::filesystem::path(SPANSCOPE_SOURCE_DIR) / "resources/models/spanlet", backend);
    QVERIFY(model.decoder->config().blockAttention);
    const QJsonArray entries = readArray("spanlet.json");
    QCOMPARE(entries.size(), 4);
    for (const auto& entry : entries) {
      for (const char* mode : {"full", "spans"}) {
        const auto prompt = idsOf(entry.toObject()["ids"]);
        const auto answer = idsOf(entry.toObject()[mode]);
        auto segments = parseSegments(entry.toObject()["segments"].toString().toStdString());
        if (QString(mode) == "full") segments = {{false, static_cast<std::int32_t>(prompt.size())}};
        segments.back().length += static_cast<std::int32_t>(answer.size());
        auto tokens = prompt;
        tokens.insert(tokens.end(), answer.begin(), answer.end());
        const auto logits = model.run(tokens, segments, 16).logits;
        for (std::size_t i = 0; i < answer.size(); ++i) {
          const auto row = logits.begin() + static_cast<std::ptrdiff_t>((prompt.size() + i - 1) * 2048);
          QCOMPARE(std::max_element(row, row + 2048) - row, std::ptrdiff_t{answer[i]});
        }
      }
    }
  }

  void cleanupTestCase() const { qInfo("largest error: %.1e of the largest logit of its row", m_worst); }
};

SPANSCOPE_TEST(tst_decoder_logits, TestDecoderLogits, QCoreApplication)
#include "tst_decoder_logits.moc"
