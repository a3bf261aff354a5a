// SPDX-License-Identifier: GPL-3.0-or-later
// Adapters that data/make_adapters.py has made, against transformers on the merged weights.
#include "engine/base/error.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/compute/dtype.h"
#include "engine/model/adapter.h"
#include "engine/model/decoder.h"
#include "engine/model/weight_reader.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/run_segments.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;

namespace {

std::filesystem::path checkpointAt(const std::string& name) {
  return std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / name;
}

QJsonObject entryOf(const QString& name) {
  for (const char* file : {"golden.json", "families.json"}) {
    QFile data(QString::fromStdString(checkpointAt(file).string()));
    if (!data.open(QIODevice::ReadOnly)) continue;
    for (const auto& entry : QJsonDocument::fromJson(data.readAll()).array()) {
      if (entry.toObject()["name"].toString() == name) return entry.toObject();
    }
  }
  return {};
}

std::vector<float> floatsOf(const checkpoint::SafetensorsTensor& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

std::vector<float> logitsOf(const model::ModelConfig& config, const model::WeightSource& weights,
                            const model::Adapter* adapter, const std::vector<TokenId>& ids,
                            const std::vector<TestSegment>& segments) {
  const auto backend = test::makeBackend();
  model::Decoder decoder(config, weights, *backend, {.adapter = adapter});
  const auto store =
      backend->makeKvStore(decoder.kvShape(blocksNeeded(segments, 16), 16, compute::DType::F32));
  return runSegments(decoder, *store, ids, segments).logits;
}

/// The weights of another source in Q8_0 where their rows are whole blocks, or what these mean, in f32.
class Quantised final : public model::WeightSource {
 public:
  Quantised(const model::ModelConfig& config, const model::WeightSource& source, bool isWidened)
      : m_source(source) {
    for (const model::NamedTensor& tensor : model::tensorsOf(config)) {
      const compute::HostMatrix matrix = source.get(tensor.name, tensor.rows, tensor.columns);
      if (!tensor.isMatrix() || tensor.columns % kBlock != 0) continue;
      std::vector<float> values(static_cast<std::size_t>(tensor.rows * tensor.columns));
      compute::widen(matrix.format, matrix.data, tensor.rows * tensor.columns, values.data());
      std::vector<std::byte> packed = packedOf(values);
      if (isWidened) {
        compute::widen(compute::WeightFormat::Q8_0, packed.data(), tensor.rows * tensor.columns,
                       values.data());
        packed.resize(values.size() * sizeof(float));
        std::memcpy(packed.data(), values.data(), packed.size());
      }
      m_packed.emplace(tensor.name, std::move(packed));
    }
    m_format = isWidened ? compute::WeightFormat::F32 : compute::WeightFormat::Q8_0;
  }
  std::size_t packed() const { return m_packed.size(); }

  bool has(const std::string& name) const override { return m_source.has(name); }
  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    const auto found = m_packed.find(name);
    if (found == m_packed.end()) return m_source.get(name, rows, columns);
    return {found->second.data(), m_format, rows, columns};
  }
  std::vector<model::StoredTensor> stored() const override { return m_source.stored(); }
  std::string fingerprint() const override { return "quantised"; }
  std::string name() const override { return "quantised"; }

 private:
  static constexpr std::int64_t kBlock = 32;

  static std::vector<std::byte> packedOf(const std::vector<float>& values) {
    std::vector<std::byte> bytes;
    for (std::size_t first = 0; first < values.size(); first += kBlock) {
      float most = 0;
      for (std::size_t i = first; i < first + kBlock; ++i) most = std::max(most, std::abs(values[i]));
      const std::uint16_t factor = compute::f16FromFloat(most / 127);
      const float rounded = compute::floatFromF16(factor);
      bytes.push_back(static_cast<std::byte>(factor & 0xFFU));
      bytes.push_back(static_cast<std::byte>(factor >> 8U));
      for (std::size_t i = first; i < first + kBlock; ++i) {
        const float code = rounded == 0 ? 0 : std::round(values[i] / rounded);
        bytes.push_back(static_cast<std::byte>(static_cast<std::int8_t>(std::clamp(code, -127.0F, 127.0F))));
      }
    }
    return bytes;
  }

  const model::WeightSource& m_source;
  compute::WeightFormat m_format = compute::WeightFormat::F32;
  std::map<std::string, std::vector<std::byte>> m_packed;
};

/// A copy of an adapter whose configuration has one more field.
std::filesystem::path changedCopy(const QTemporaryDir& folder, const QString& field,
                                  const QJsonValue& value) {
  const std::filesystem::path from = checkpointAt("bf16_gqa_tied") / "adapter";
  const std::filesystem::path to = folder.path().toStdString();
  std::filesystem::copy_file(from / "adapter_model.safetensors", to / "adapter_model.safetensors");
  QFile file(QString::fromStdString((from / "adapter_config.json").string()));
  if (!file.open(QIODevice::ReadOnly)) return {};
  QJsonObject config = QJsonDocument::fromJson(file.readAll()).object();
  config[field] = value;
  std::ofstream(to / "adapter_config.json") << QJsonDocument(config).toJson().toStdString();
  return to;
}

}  // namespace

class TestAdapter : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isTheMergedModel_data() {
    QTest::addColumn<bool>("isBlockMasked");
    for (const char* name : {"bf16_gqa_tied", "llama_linear", "phi3_short", "qwen3_biases"}) {
      QTest::addRow("%s, full", name) << false;
      QTest::addRow("%s, block-masked", name) << true;
    }
  }
  void isTheMergedModel() {
    QFETCH(bool, isBlockMasked);
    const QString name = QString::fromUtf8(QTest::currentDataTag()).section(',', 0, 0);
    const std::filesystem::path directory = checkpointAt(name.toStdString());
    const model::ModelConfig config = model::readConfig(directory);
    const auto weights = model::openWeights(directory, config);
    const model::Adapter adapter = model::Adapter::open(directory / "adapter");
    QVERIFY(adapter.blockAttention());
    const QJsonObject entry = entryOf(name);
    std::vector<TokenId> ids;
    for (const auto& id : entry["ids"].toArray()) ids.push_back(id.toInt());
    std::vector<TestSegment> segments = parseSegments(entry["segments"].toString().toStdString());
    if (!isBlockMasked) segments = parseSegments("d" + std::to_string(ids.size()));
    const checkpoint::MappedFile file(directory / "adapter" / "golden.safetensors");
    const auto golden = checkpoint::parseSafetensors(file.bytes(), "golden");
    const std::vector<float> expected = floatsOf(golden.tensors.at(isBlockMasked ? "spans" : "full"));
    const auto columns = static_cast<std::size_t>(config.vocabularySize);
    const std::vector<float> found = logitsOf(config, *weights, &adapter, ids, segments);
    const Comparison result = compareRows(found, expected, columns, 1e-4);
    QVERIFY2(result.ok, result.text().c_str());
    // It is no small thing that is added.
    const std::vector<float> plain = logitsOf(config, *weights, nullptr, ids, segments);
    QVERIFY(!compareRows(plain, expected, columns, 1e-2).ok);
  }

  /// Packed weights stay packed; the adapter is computed beside them.
  void packedWeightsAreAdapted() {
    const std::filesystem::path directory = checkpointAt("llama_linear");
    const model::ModelConfig config = model::readConfig(directory);
    const auto weights = model::openWeights(directory, config);
    const model::Adapter adapter = model::Adapter::open(directory / "adapter");
    const Quantised packed(config, *weights, false);
    const Quantised widened(config, *weights, true);
    QVERIFY(packed.packed() > 8);
    const std::vector<TokenId> ids{3, 14, 15, 9, 26, 5, 35, 8, 9, 7, 9, 32};
    const std::vector<TestSegment> segments = parseSegments("i5,i4,d3");
    const std::vector<float> found = logitsOf(config, packed, &adapter, ids, segments);
    const std::vector<float> expected = logitsOf(config, widened, &adapter, ids, segments);
    const auto columns = static_cast<std::size_t>(config.vocabularySize);
    const Comparison result = compareRows(found, expected, columns, 1e-5);
    QVERIFY2(result.ok, result.text().c_str());
    QVERIFY(!compareRows(logitsOf(config, packed, nullptr, ids, segments), expected, columns, 1e-2).ok);
  }

  void otherKindsAreRefused_data() {
    QTest::addColumn<QJsonValue>("value");
    QTest::newRow("use_dora") << QJsonValue(true);
    QTest::newRow("fan_in_fan_out") << QJsonValue(true);
    QTest::newRow("bias") << QJsonValue("all");
    QTest::newRow("peft_type") << QJsonValue("IA3");
    QTest::newRow("modules_to_save") << QJsonValue(QJsonArray{"lm_head"});
    QTest::newRow("alpha_pattern") << QJsonValue(QJsonObject{{"q_proj", 3}});
    QTest::newRow("lora_alpha") << QJsonValue(0);
  }
  void otherKindsAreRefused() {
    QFETCH(QJsonValue, value);
    const QTemporaryDir folder;
    const QString field = QTest::currentDataTag();
    const std::filesystem::path path = changedCopy(folder, field, value);
    try {
      model::Adapter::open(path);
      QFAIL("opened");
    } catch (const Failure& failure) {
      QVERIFY2(QString::fromStdString(failure.error().place).endsWith("/" + field),
               failure.error().place.c_str());
    }
  }

  void anotherModelsAdapterIsRefused() {
    const std::filesystem::path directory = checkpointAt("qwen3_tied");
    const model::ModelConfig config = model::readConfig(directory);
    const auto weights = model::openWeights(directory, config);
    const model::Adapter adapter = model::Adapter::open(checkpointAt("bf16_gqa_tied") / "adapter");
    const auto backend = test::makeBackend();
    try {
      const model::Decoder decoder(config, *weights, *backend, {.adapter = &adapter});
      QFAIL("opened");
    } catch (const Failure& failure) {
      QVERIFY(failure.error().file.find("adapter") != std::string::npos);
      QVERIFY(failure.error().place.starts_with("model.layers.0."));
    }
  }

  void missingFilesAreNamed() {
    const QTemporaryDir folder;
    QVERIFY_EXCEPTION_THROWN(model::Adapter::open(folder.path().toStdString()), Failure);
  }

  void fingerprintIsOfTheValues() {
    const model::Adapter one = model::Adapter::open(checkpointAt("bf16_gqa_tied") / "adapter");
    const model::Adapter other = model::Adapter::open(checkpointAt("qwen3_biases") / "adapter");
    QVERIFY(one.fingerprint() != other.fingerprint());
    const QTemporaryDir folder;
    const model::Adapter scaled = model::Adapter::open(changedCopy(folder, "lora_alpha", 7));
    QVERIFY(scaled.fingerprint() != one.fingerprint());
  }
};

SPANSCOPE_TEST(tst_adapter, TestAdapter)
#include "tst_adapter.moc"
