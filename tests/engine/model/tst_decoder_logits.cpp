// SPDX-License-Identifier: GPL-3.0-or-later
// The decoder against logits that transformers computed for small random checkpoints (data/make_logits.py),
// with plain causal attention and with the block-diagonal mask of independent segments.
#include "engine/model/decoder.h"
#include "engine/model/mapped_file.h"
#include "engine/model/safetensors.h"
#include "tests/support/compare.h"
#include "tests/support/reference_backend.h"
#include "tests/support/run_segments.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

using namespace spanscope;
using namespace spanscope::testing;
using compute::DType;

namespace {

constexpr double kTolerance = 1e-4;  // of the largest logit of the row

struct Golden {
  std::vector<TokenId> ids;
  std::vector<TestSegment> segments;
  std::vector<float> full, spans;
};

std::vector<float> floats(const model::SafetensorsTensor& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

std::filesystem::path dataDirectory(const QString& name) {
  return std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / name.toStdString();
}

QJsonArray goldenCases() {
  QFile file(QStringLiteral(SPANSCOPE_TEST_DATA_DIR "/golden.json"));
  return file.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(file.readAll()).array() : QJsonArray();
}

Golden readGolden(const QString& name) {
  Golden golden;
  for (const auto& entry : goldenCases()) {
    if (entry.toObject()["name"].toString() != name) continue;
    for (const auto& id : entry.toObject()["ids"].toArray()) golden.ids.push_back(id.toInt());
    golden.segments = parseSegments(entry.toObject()["segments"].toString().toStdString());
  }
  const model::MappedFile file(dataDirectory(name) / "golden.safetensors");
  const auto parsed = model::parseSafetensors(file.bytes(), "golden");
  golden.full = floats(parsed.tensors.at("full"));
  golden.spans = floats(parsed.tensors.at("spans"));
  return golden;
}

std::unique_ptr<compute::Backend> makeBackend(const QString& name) {
  if (name == "reference") return std::make_unique<ReferenceBackend>();
  if (name == "reference, raw keys") return std::make_unique<ReferenceBackend>(KeyLayout::Raw);
  return nullptr;
}

/// A checkpoint on a backend.
struct Model {
  std::unique_ptr<compute::Backend> backend;
  std::unique_ptr<model::WeightSource> weights;
  std::unique_ptr<model::Decoder> decoder;

  Model(const std::filesystem::path& directory, const QString& backendName)
      : backend(makeBackend(backendName)), weights(model::openSafetensors(directory)) {
    decoder = std::make_unique<model::Decoder>(model::readConfig(directory), *weights, *backend);
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
  static void addRows() {
    QTest::addColumn<QString>("checkpoint");
    QTest::addColumn<QString>("backend");
    for (const auto& entry : goldenCases()) {
      const QString name = entry.toObject()["name"].toString();
      for (const char* backend : {"reference", "reference, raw keys"}) {
        QTest::addRow("%s on %s", qPrintable(name), backend) << name << QString(backend);
      }
    }
  }

 private slots:
  void allCasesAreThere() { QCOMPARE(goldenCases().size(), 7); }

  void fullAttention_data() { addRows(); }
  void fullAttention() {
    QFETCH(QString, checkpoint);
    QFETCH(QString, backend);
    const Golden golden = readGolden(checkpoint);
    const Model model(dataDirectory(checkpoint), backend);
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
    const Model model(dataDirectory(checkpoint), backend);
    const auto columns = static_cast<std::size_t>(model.decoder->config().vocabularySize);
    for (const std::int32_t blockSize : {16, 5, 1}) {
      SegmentOptions options;
      options.rowsPerPass = blockSize == 5 ? 7 : 1 << 20;
      options.blockStep = blockSize == 5 ? 2 : 1;
      const auto logits = model.run(golden.ids, golden.segments, blockSize, options).logits;
      const auto result = compareRows(logits, golden.spans, columns, kTolerance);
      QVERIFY2(result.ok, qPrintable(QString("block size %1, %2").arg(blockSize).arg(result.text().c_str())));
    }
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
};

QTEST_GUILESS_MAIN(TestDecoderLogits)
#include "tst_decoder_logits.moc"
