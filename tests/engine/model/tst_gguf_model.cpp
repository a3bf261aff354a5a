// SPDX-License-Identifier: GPL-3.0-or-later
// A model as a GGUF file is the model as a directory: the same configuration, and the same logits to the bit.
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/compute/dtype.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/decoder.h"
#include "engine/model/weight_reader.h"
#include "engine/model/weights.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/support/backends.h"
#include "tests/support/compare.h"
#include "tests/support/random_values.h"
#include "tests/support/run_segments.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;
using namespace spanscope::testing;
using compute::HostMatrix;
using compute::WeightFormat;
using text::test::GgufWriter;

namespace {

std::filesystem::path checkpointAt(const std::string& name) {
  return std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / name;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  return place == std::string::npos ? text : text.replace(place, from.size(), to);
}

std::string ggufName(std::string name) {
  static const std::vector<std::pair<std::string, std::string>> kNames = {
      {"model.layers.", "blk."},           {"model.embed_tokens", "token_embd"},
      {"model.norm", "output_norm"},       {"lm_head", "output"},
      {"input_layernorm", "attn_norm"},    {"post_attention_layernorm", "ffn_norm"},
      {"self_attn.q_proj", "attn_q"},      {"self_attn.k_proj", "attn_k"},
      {"self_attn.q_norm", "attn_q_norm"}, {"self_attn.k_norm", "attn_k_norm"},
      {"self_attn.v_proj", "attn_v"},      {"self_attn.o_proj", "attn_output"},
      {"mlp.gate_proj", "ffn_gate"},       {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"}};
  for (const auto& [from, to] : kNames) name = replaced(std::move(name), from, to);
  return name;
}

/// As llama.cpp's converter writes the rows of queries and keys: the two of a pair are adjacent.
std::string interleaved(const std::string& bytes, std::size_t rows, std::size_t heads) {
  const std::size_t rowBytes = bytes.size() / rows;
  const std::size_t half = rows / heads / 2;
  std::string out;
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t i = 0; i < half; ++i) {
      for (std::size_t h = 0; h < 2; ++h)
        out += bytes.substr(((head * 2 + h) * half + i) * rowBytes, rowBytes);
    }
  }
  return out;
}

const model::Architecture& familyOf(const model::ModelConfig& config) {
  return *model::architectureByName(config.architecture);
}

/// The keys of the model's architecture, less one.
GgufWriter keysOf(const model::ModelConfig& config, const std::string& left = {}) {
  GgufWriter file;
  const std::string name = familyOf(config).ggufName;
  file.text("general.architecture", name);
  const auto number = [&](const std::string& key, std::int64_t value) {
    if (key != left) file.unsignedInteger(name + "." + key, static_cast<std::uint32_t>(value));
  };
  number("block_count", config.layers);
  number("context_length", config.maxPositions);
  number("embedding_length", config.hiddenSize);
  number("feed_forward_length", config.intermediateSize);
  number("attention.head_count", config.heads);
  number("attention.head_count_kv", config.keyValueHeads);
  number("attention.key_length", config.headSize);
  number("attention.value_length", config.headSize);
  number("rope.dimension_count", config.headSize);
  number("vocab_size", config.vocabularySize);
  file.number(name + ".rope.freq_base", static_cast<float>(config.attention.rotary->theta));
  file.number(name + ".attention.layer_norm_rms_epsilon", config.normEpsilon);
  return file;
}

std::uint32_t typeOf(WeightFormat format) {
  return compute::infoOf(format).ggufType;
}

/// All tensors, less one.
void addTensors(GgufWriter& file, const model::ModelConfig& config, const model::WeightSource& weights,
                const std::string& left = {}) {
  for (const model::NamedTensor& tensor : model::tensorsOf(config)) {
    if (tensor.name == left) continue;
    const HostMatrix matrix = weights.get(tensor.name, tensor.rows, tensor.columns);
    std::string bytes(reinterpret_cast<const char*>(matrix.data), matrix.bytes());
    const bool isQuery = tensor.name.find("q_proj") != std::string::npos;
    const bool isPair = isQuery || tensor.name.find("k_proj") != std::string::npos;
    if (isPair && familyOf(config).pairsRowsInGguf) {
      const auto rows = static_cast<std::size_t>(tensor.rows == 1 ? tensor.columns : tensor.rows);
      bytes =
          interleaved(bytes, rows, static_cast<std::size_t>(isQuery ? config.heads : config.keyValueHeads));
    }
    std::vector<std::uint64_t> shape = {static_cast<std::uint64_t>(tensor.columns)};
    if (tensor.rows > 1) shape.push_back(static_cast<std::uint64_t>(tensor.rows));
    file.tensor(ggufName(tensor.name), shape, typeOf(matrix.format), bytes);
  }
}

std::filesystem::path writeFile(const QTemporaryDir& folder, const std::string& bytes) {
  const QString path = folder.filePath("model.gguf");
  QFile file(path);
  if (!file.open(QIODevice::WriteOnly) || file.write(QByteArray::fromStdString(bytes)) < 0) return {};
  return path.toStdString();
}

std::vector<float> logitsOf(const model::ModelConfig& config, const model::WeightSource& weights,
                            const std::string& segments) {
  const auto backend = test::makeBackend();
  model::Decoder decoder(config, weights, *backend);
  const std::vector<TestSegment> parsed = parseSegments(segments);
  std::int32_t count = 0;
  for (const TestSegment& segment : parsed) count += segment.length;
  std::vector<TokenId> ids;
  for (std::int32_t i = 0; i < count; ++i) ids.push_back((7 * i + 3) % config.vocabularySize);
  const auto store = backend->makeKvStore(decoder.kvShape(blocksNeeded(parsed, 16), 16, compute::DType::F32));
  return runSegments(decoder, *store, ids, parsed).logits;
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::optional<Error> errorOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const Failure& failure) {
    return failure.error();
  }
  return std::nullopt;
}

/// Weights in any formats, which lie in memory.
class OwnWeights final : public model::WeightSource {
 public:
  void add(const std::string& name, HostWeight weight) { m_weights.emplace(name, std::move(weight)); }

  bool has(const std::string& name) const override { return m_weights.contains(name); }
  HostMatrix get(const std::string& name, std::int64_t, std::int64_t) const override {
    return m_weights.at(name).view();
  }
  std::vector<model::StoredTensor> stored() const override {
    std::vector<model::StoredTensor> tensors;
    for (const auto& [name, weight] : m_weights) tensors.push_back({name, "memory"});
    return tensors;
  }
  std::string fingerprint() const override { return "own"; }
  std::string name() const override { return "memory"; }

 private:
  std::map<std::string, HostWeight> m_weights;
};

model::ModelConfig wideConfig() {
  model::ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.vocabularySize = 96;
  config.hiddenSize = 256;
  config.intermediateSize = 512;
  config.layers = 2;
  config.heads = 4;
  config.keyValueHeads = 2;
  config.headSize = 64;
  config.tiedEmbeddings = false;
  return config;
}

}  // namespace

class TestGgufModel : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void isTheModelOfTheDirectory_data() {
    QTest::addColumn<QString>("name");
    for (const char* name :
         {"bf16_gqa_tied", "bf16_mqa_untied", "f32_untied", "f32_mha_tied", "f32_wide_heads_biases",
          "qwen2_tied", "qwen2_untied", "qwen3_tied", "qwen3_biases"})
      QTest::newRow(name) << QString(name);
  }
  void isTheModelOfTheDirectory() {
    QFETCH(QString, name);
    const std::filesystem::path directory = checkpointAt(name.toStdString());
    model::ModelConfig config = model::readConfig(directory);
    const auto weights = model::openSafetensors(directory);
    GgufWriter file = keysOf(config);
    addTensors(file, config, *weights);
    const QTemporaryDir folder;
    const std::filesystem::path path = writeFile(folder, file.bytes());
    // The file, or the folder in which it is alone.
    for (const std::filesystem::path& given : {path, path.parent_path()}) {
      const model::ModelConfig read = model::readConfig(given);
      // End tokens are part of the tokenizer.
      config.endTokens.clear();
      config.maxNewTokens = 0;
      config.blockAttention = false;
      QVERIFY(read == config);
    }
    const auto packed = model::openGguf(path, config);
    QVERIFY(sameBits(logitsOf(config, *packed, "i5,i9,d7"), logitsOf(config, *weights, "i5,i9,d7")));
    QCOMPARE(packed->stored().size(), weights->stored().size());
  }

  /// Files that llama.cpp's converter made of the checkpoints; see data/make_gguf.py.
  void convertedFilesAreTheSameModel_data() {
    QTest::addColumn<QString>("name");
    for (const auto& entry : std::filesystem::directory_iterator(SPANSCOPE_TEST_DATA_DIR)) {
      if (!std::filesystem::exists(entry.path() / "model.gguf")) continue;
      const QString name = QString::fromStdString(entry.path().filename().string());
      QTest::newRow(qPrintable(name)) << name;
    }
  }
  void convertedFilesAreTheSameModel() {
    QFETCH(QString, name);
    const std::filesystem::path directory = checkpointAt(name.toStdString());
    const std::filesystem::path path = directory / "model.gguf";
    model::ModelConfig config = model::readConfig(directory);
    model::ModelConfig read = model::readConfig(path);
    for (model::ModelConfig* const each : {&config, &read}) {
      model::fixContext(*each, name == "phi3_long" ? 64 : 0);
      each->endTokens.clear();
    }
    // Files of Gemma do not contain the factor on scores. In all models but the largest it depends on the
    // head size.
    if (name == "gemma3" || name == "gemma2") config.attentionScale = 0;
    const model::AttentionKind& expected = config.attention;
    QCOMPARE(read.kinds(), config.kinds());
    QCOMPARE(read.attention.window, expected.window);
    QVERIFY(read.attention.positionScale == expected.positionScale);
    const std::vector<float> ofFile = logitsOf(read, *model::openWeights(path, read), "i21,d7");
    const std::vector<float> ofDirectory = logitsOf(config, *model::openWeights(directory, config), "i21,d7");
    const auto columns = static_cast<std::size_t>(config.vocabularySize);
    const Comparison result = compareRows(ofFile, ofDirectory, columns, 1e-6);
    QVERIFY2(result.ok, result.text().c_str());
  }

  /// Files that llama-quantize made, against logits of transformers; see data/make_quantised.py.
  void quantisedFilesAreWhatTheyMean_data() {
    QTest::addColumn<QStringList>("formats");  // of the matrices, those of rows that are too short included
    const auto row = [](const char* type, const QStringList& formats) { QTest::newRow(type) << formats; };
    row("Q8_0", {"Q8_0"});
    row("Q6_K", {"Q6_K", "Q8_0"});
    row("Q5_K_M", {"Q5_1", "Q5_K", "Q6_K", "Q8_0"});
    row("Q4_K_M", {"Q4_K", "Q5_0", "Q6_K", "Q8_0"});
    row("Q4_0", {"Q4_0", "Q6_K"});
    row("IQ4_NL", {"IQ4_NL", "Q6_K"});
    row("IQ4_XS", {"IQ4_NL", "IQ4_XS", "Q6_K"});
    row("Q3_K_M", {"Q3_K", "Q5_0", "Q5_K", "Q6_K"});
    row("Q2_K", {"Q2_K", "Q3_K", "Q4_0", "Q6_K"});
  }
  void quantisedFilesAreWhatTheyMean() {
    QFETCH(QStringList, formats);
    const std::string type = QTest::currentDataTag();
    const std::filesystem::path path = checkpointAt("quantised") / (type + ".gguf");
    const model::ModelConfig config = model::readConfig(path);
    const auto weights = model::openWeights(path, config);
    QStringList found;
    for (const auto& [format, amount] : model::weightAmounts(config, *weights))
      found += QString::fromStdString(compute::infoOf(format).name);
    found.sort();
    QCOMPARE(found, formats);
    const checkpoint::MappedFile file(checkpointAt("quantised") / "golden.safetensors");
    const auto golden = checkpoint::parseSafetensors(file.bytes(), "golden").tensors.at(type).data;
    std::vector<float> expected(golden.size() / sizeof(float));
    std::memcpy(expected.data(), golden.data(), golden.size());
    const auto columns = static_cast<std::size_t>(config.vocabularySize);
    const Comparison result = compareRows(logitsOf(config, *weights, "d24"), expected, columns, 1e-4);
    QVERIFY2(result.ok, result.text().c_str());
  }

  /// The factors of the frequencies are in a tensor.
  void frequenciesAreDivided() {
    const std::filesystem::path directory = checkpointAt("f16_llama3");
    const model::ModelConfig config = model::readConfig(directory);
    QVERIFY(config.attention.rotary->llama3.has_value());
    model::ModelConfig plain = config;
    plain.attention.rotary->llama3.reset();
    const compute::RotaryTable with = model::makeRotaryTable(config);
    const compute::RotaryTable without = model::makeRotaryTable(plain);
    std::string factors;
    for (std::size_t i = 0; i < with.inverseFrequencies.size(); ++i) {
      const auto factor = static_cast<float>(without.inverseFrequencies[i] / with.inverseFrequencies[i]);
      factors += std::string(reinterpret_cast<const char*>(&factor), sizeof factor);
    }
    GgufWriter file = keysOf(config);
    file.tensor("rope_freqs.weight", {static_cast<std::uint64_t>(config.headSize / 2)}, 0, factors);
    const auto weights = model::openSafetensors(directory);
    addTensors(file, config, *weights);
    const QTemporaryDir folder;
    const std::filesystem::path path = writeFile(folder, file.bytes());
    const model::ModelConfig read = model::readConfig(path);
    QVERIFY(model::fingerprint(read) != model::fingerprint(plain));
    const compute::RotaryTable table = model::makeRotaryTable(read);
    for (std::size_t i = 0; i < with.inverseFrequencies.size(); ++i) {
      const double expected = with.inverseFrequencies[i];
      QVERIFY(std::abs(table.inverseFrequencies[i] - expected) <= 1e-6 * expected);
    }
    QVERIFY(!logitsOf(read, *model::openGguf(path, read), "d8").empty());
  }

  /// A model whose matrices are packed computes what the same model in f32 computes.
  void packedWeightsMeanTheirValues_data() {
    QTest::addColumn<int>("number");
    for (const compute::WeightFormatInfo& info : compute::weightFormats()) {
      if (info.isPacked()) QTest::newRow(info.name) << static_cast<int>(info.format);
    }
  }
  void packedWeightsMeanTheirValues() {
    QFETCH(int, number);
    const auto format = static_cast<WeightFormat>(number);
    const model::ModelConfig config = wideConfig();
    Random random(5);
    OwnWeights packed;
    OwnWeights wide;
    for (const model::NamedTensor& tensor : model::tensorsOf(config)) {
      const HostWeight weight =
          tensor.isMatrix() ? smallWeight(random, tensor, format)
                            : HostWeight(std::vector<float>(static_cast<std::size_t>(tensor.columns), 1.0F),
                                         1, tensor.columns, compute::DType::F32);
      wide.add(tensor.name, HostWeight(weight.values(), tensor.rows, tensor.columns, compute::DType::F32));
      packed.add(tensor.name, weight);
    }
    GgufWriter file = keysOf(config);
    addTensors(file, config, packed);
    const QTemporaryDir folder;
    const std::filesystem::path path = writeFile(folder, file.bytes());
    const model::ModelConfig read = model::readConfig(path);
    const auto source = model::openGguf(path, read);
    QVERIFY(sameBits(logitsOf(read, *source, "i5,i9,d30"), logitsOf(config, wide, "i5,i9,d30")));
    QVERIFY(sameBits(logitsOf(read, *source, "d1"), logitsOf(config, wide, "d1")));
    const model::WeightAmounts amounts = model::weightAmounts(read, *source);
    QCOMPARE(amounts.size(), std::size_t(1));
    QVERIFY(amounts.begin()->first == format);
  }

  /// Keys of a family are read as llama.cpp reads them.
  void keysMeanWhatLlamaCppReads() {
    const auto read = [](const std::string& family, const std::function<void(GgufWriter&)>& add) {
      model::ModelConfig config = wideConfig();
      config.architecture = family;
      config.layers = 7;
      GgufWriter file = keysOf(config);
      add(file);
      addTensors(file, config, *model::makeRandomWeights(config, 1));
      const QTemporaryDir folder;
      return model::readConfig(writeFile(folder, file.bytes()));
    };
    using Windows = std::vector<std::int32_t>;
    // Gemma 3 without a window: all layers turn alike.
    const auto gemma = [&](const std::function<void(GgufWriter&)>& add) {
      return read("Gemma3ForCausalLM", add);
    };
    const model::ModelConfig plain = gemma([](GgufWriter&) {});
    QCOMPARE(plain.kinds(), std::size_t(1));
    QCOMPARE(plain.attention.rotary->theta, 10000.0);
    QCOMPARE(model::windowsOf(
                 gemma([](GgufWriter& file) { file.unsignedInteger("gemma3.attention.sliding_window", 8); })),
             (Windows{8, 8, 8, 8, 8, 0, 8}));
    QCOMPARE(model::windowsOf(gemma([](GgufWriter& file) {
               file.unsignedInteger("gemma3.attention.sliding_window", 8);
               file.unsignedInteger("gemma3.attention.sliding_window_pattern", 3);
             })),
             (Windows{8, 8, 0, 8, 8, 0, 8}));
    // A list, and bases of their own.
    const model::ModelConfig listed = read("Olmo2ForCausalLM", [](GgufWriter& file) {
      file.unsignedInteger("olmo2.attention.sliding_window", 8);
      file.integers("olmo2.attention.sliding_window_pattern", {0, 1, 1, 0, 0, 0, 1});
      file.number("olmo2.rope.scaling.factor", 4);
    });
    QCOMPARE(model::windowsOf(listed), (Windows{0, 8, 8, 0, 0, 0, 8}));
    QCOMPARE(listed.kind(0).rotary->linearFactor, 4.0);
    QCOMPARE(listed.kind(1).rotary->linearFactor, 1.0);
    QCOMPARE(model::windowsOf(read("Olmo2ForCausalLM",
                                   [](GgufWriter& file) {
                                     file.unsignedInteger("olmo2.attention.sliding_window", 8);
                                     file.unsignedInteger("olmo2.attention.sliding_window_pattern", 0);
                                   })),
             Windows(7, 8));
    // A factor without a type, under either name; one of no effect.
    for (const char* key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
      const model::ModelConfig scaled =
          read("LlamaForCausalLM", [key](GgufWriter& file) { file.number(key, 2.5F); });
      QCOMPARE(scaled.attention.rotary->linearFactor, 2.5);
    }
    const model::ModelConfig unscaled = read("LlamaForCausalLM", [](GgufWriter& file) {
      file.text("llama.rope.scaling.type", "none");
      file.number("llama.rope.scaling.factor", 2.5F);
      file.number("llama.rope.scaling.attn_factor", 0.5F);
    });
    QCOMPARE(unscaled.attention.rotary->linearFactor, 1.0);
    QCOMPARE(unscaled.attention.rotary->attentionScale, 0.5F);
    // Granite without positions.
    const model::ModelConfig still = read("GraniteForCausalLM", [](GgufWriter& file) {
      file.boolean("granite.rope.scaling.finetuned", false);
    });
    QVERIFY(!still.attention.rotary.has_value());
  }

  /// A key that nothing reads either changes nothing, or is refused by its name.
  void unusedKeys_data() {
    QTest::addColumn<bool>("isRefused");
    QTest::addColumn<float>("value");
    const auto row = [](const char* key, float value, bool isRefused) {
      QTest::addRow("%s=%g", key, static_cast<double>(value)) << isRefused << value;
    };
    row("final_logit_softcapping", 30, true);
    row("final_logit_softcapping", 0, false);
    row("attn_logit_softcapping", 50, true);
    row("embedding_scale", 12, true);
    row("embedding_scale", 1, false);
    row("rope.local.freq_base", 10000, false);
    row("rope.local.freq_base", 20000, true);
    row("rope.freq_base_swa", 20000, false);
    row("vision.image_size", 560, false);
    row("something.of.tomorrow", 0, true);
  }
  void unusedKeys() {
    QFETCH(bool, isRefused);
    QFETCH(float, value);
    const std::string row = QTest::currentDataTag();
    const std::string key = "gemma3." + row.substr(0, row.find('='));
    model::ModelConfig config = wideConfig();
    config.architecture = "Gemma3ForCausalLM";
    GgufWriter file = keysOf(config);
    file.unsignedInteger("gemma3.attention.sliding_window", 8);
    file.number(key, value);
    addTensors(file, config, *model::makeRandomWeights(config, 1));
    const QTemporaryDir folder;
    const std::filesystem::path path = writeFile(folder, file.bytes());
    const std::optional<Error> error = errorOf([&] { model::readConfig(path); });
    QCOMPARE(error.has_value(), isRefused);
    if (!error) return;
    QCOMPARE(error->place, key);
    QCOMPARE(error->file, path.string());
    QCOMPARE(std::stof(error->found), value);
  }

  void namesWhatIsMissing_data() {
    QTest::addColumn<QString>("left");
    for (const char* key : {"block_count", "embedding_length", "feed_forward_length", "attention.head_count"})
      QTest::newRow(key) << QString(key);
  }
  void namesWhatIsMissing() {
    QFETCH(QString, left);
    const model::ModelConfig config = wideConfig();
    GgufWriter file = keysOf(config, left.toStdString());
    addTensors(file, config, *model::makeRandomWeights(config, 1));
    const QTemporaryDir folder;
    const std::filesystem::path path = writeFile(folder, file.bytes());
    const std::optional<Error> error = errorOf([&] { model::readConfig(path); });
    QVERIFY(error.has_value());
    QCOMPARE(QString::fromStdString(error->place), "llama." + left);
    QCOMPARE(error->file, path.string());
  }

  /// By the file's own name.
  void namesTheTensorThatIsMissing_data() {
    QTest::addColumn<QString>("left");
    for (const model::NamedTensor& tensor : model::tensorsOf(wideConfig())) {
      // Without this one, the file has tied embeddings.
      if (tensor.name != "lm_head.weight") QTest::newRow(tensor.name.c_str()) << QString(tensor.name.c_str());
    }
  }
  void namesTheTensorThatIsMissing() {
    QFETCH(QString, left);
    const model::ModelConfig config = wideConfig();
    GgufWriter file = keysOf(config);
    addTensors(file, config, *model::makeRandomWeights(config, 1), left.toStdString());
    const QTemporaryDir folder;
    const std::filesystem::path path = writeFile(folder, file.bytes());
    const std::optional<Error> error = errorOf([&] {
      const model::ModelConfig read = model::readConfig(path);
      model::checkTensors(read, *model::openGguf(path, read));
    });
    QVERIFY(error.has_value());
    QCOMPARE(error->place, ggufName(left.toStdString()));
    QCOMPARE(error->file, path.string());
  }

  void refusesWhatItCannotCompute_data() {
    QTest::addColumn<QString>("place");
    QTest::addColumn<QString>("found");
    QTest::newRow("architecture") << "general.architecture"
                                  << "\"mamba\"";
    QTest::newRow("experts") << "llama.expert_count"
                             << "experts";
    QTest::newRow("scaling") << "llama.rope.scaling.type"
                             << "\"dynamic\"";
    QTest::newRow("part of a head") << "llama.rope.dimension_count"
                                    << "33";
    QTest::newRow("unknown type") << "blk.1.ffn_up.weight"
                                  << "type 99";
    QTest::newRow("surplus") << ""
                             << "\"blk.0.attn_unknown.weight\"";
    QTest::newRow("lists") << "llama.feed_forward_length"
                           << "a list";
  }
  void refusesWhatItCannotCompute() {
    QFETCH(QString, place);
    QFETCH(QString, found);
    const QString row = QTest::currentDataTag();
    const model::ModelConfig config = wideConfig();
    GgufWriter file = keysOf(config, row == "part of a head" ? "rope.dimension_count"
                                     : row == "lists"        ? "feed_forward_length"
                                                             : "");
    if (row == "lists") file.integers("llama.feed_forward_length", {512, 256});
    if (row == "part of a head") file.unsignedInteger("llama.rope.dimension_count", 33);
    if (row == "experts") file.unsignedInteger("llama.expert_count", 8);
    if (row == "scaling") file.text("llama.rope.scaling.type", "dynamic");
    if (row == "surplus") file.tensor("blk.0.attn_unknown.weight", {4}, 0, std::string(16, '\0'));
    addTensors(file, config, *model::makeRandomWeights(config, 1));
    std::string bytes = file.bytes();
    if (row == "architecture") bytes = replaced(bytes, "llama", "mamba");
    if (row == "unknown type") {
      const std::size_t name = bytes.find("blk.1.ffn_up.weight");
      bytes[name + 19 + 4 + 16] = 99;
    }
    const QTemporaryDir folder;
    const std::filesystem::path path = writeFile(folder, bytes);
    const std::optional<Error> error = errorOf([&] {
      const model::ModelConfig read = model::readConfig(path);
      const auto backend = test::makeBackend();
      const model::Decoder decoder(read, *model::openGguf(path, read), *backend);
    });
    QVERIFY(error.has_value());
    QCOMPARE(QString::fromStdString(error->place), place);
    QVERIFY2(QString::fromStdString(error->found).contains(found), error->message().c_str());
    QVERIFY(!error->expected.empty());
  }

  void changedHeadsAreRefusedOrAModel_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"gemma3", "mistral", "phi3_long", "qwen3_yarn"})
      QTest::newRow(name) << QString(name);
  }
  /// One byte of the head is changed: each reader reports the fault, or gives a model whose tensors are all
  /// within the file. Most of the heads are still heads of a GGUF file.
  void changedHeadsAreRefusedOrAModel() {
    QFETCH(QString, name);
    QFile source(QString::fromStdString((checkpointAt(name.toStdString()) / "model.gguf").string()));
    QVERIFY(source.open(QIODevice::ReadOnly));
    const QByteArray whole = source.readAll();
    const auto viewOf = [](const QByteArray& bytes) {
      return std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size())));
    };
    const std::byte* data = viewOf(whole).data() + whole.size();
    const checkpoint::GgufContents original = checkpoint::parseGguf(viewOf(whole), "model.gguf");
    for (const auto& [tensorName, tensor] : original.tensors) data = std::min(data, tensor.data.data());
    const auto head = static_cast<std::uint64_t>(data - viewOf(whole).data());

    const QTemporaryDir folder;
    Random random(testSeed(20261125));
    int files = 0;
    int models = 0;
    constexpr int kHeads = 2500;
    for (int i = 0; i < kHeads; ++i) {
      QByteArray changed;
      // Most changes of a byte make the GGUF file invalid. After some changes there are enough valid files.
      for (int attempt = 0; attempt < 3; ++attempt) {
        changed = whole;
        changed[static_cast<qsizetype>(random.below(head))] = static_cast<char>(random.next());
        if (!errorOf([&] { checkpoint::parseGguf(viewOf(changed), "model.gguf"); })) {
          ++files;
          break;
        }
      }
      const std::filesystem::path path = writeFile(folder, changed.toStdString());
      const std::optional<Error> error = errorOf([&] {
        const model::ModelConfig config = model::readConfig(path);
        const auto weights = model::openWeights(path, config);
        for (const model::NamedTensor& tensor : model::tensorsOf(config)) {
          const HostMatrix matrix = weights->get(tensor.name, tensor.rows, tensor.columns);
          QVERIFY(matrix.data != nullptr && matrix.rows == tensor.rows && matrix.columns == tensor.columns);
          // Of what lies in no file, the last byte could not be read.
          volatile const std::byte last = matrix.data[matrix.bytes() - 1];
          static_cast<void>(last);
        }
      });
      if (error) QVERIFY(!error->found.empty() && !error->expected.empty());
      models += error ? 0 : 1;
    }
    QVERIFY2(files > kHeads / 2, qPrintable(QString::number(files)));
    QVERIFY2(models > kHeads / 20 && models < files, qPrintable(QString::number(models)));
  }

 private:
  /// Blocks whose factors are small enough that a sum over a row stays moderate.
  static HostWeight smallWeight(Random& random, const model::NamedTensor& tensor, WeightFormat format) {
    HostWeight weight(random, tensor.rows, tensor.columns, format);
    const HostMatrix view = weight.view();
    const compute::WeightFormatInfo& info = compute::infoOf(format);
    auto* bytes = const_cast<std::byte*>(view.data);  // its own
    const std::int64_t blocks = tensor.rows * (tensor.columns / info.blockElements);
    for (std::int64_t block = 0; block < blocks; ++block, bytes += info.blockBytes) {
      compute::storeFactor(info, 0x1p-14F, bytes);
      if (info.rule.hasMinimum) compute::storeElement(bytes + info.minimumAt, compute::DType::F16, 0x1p-14F);
    }
    return weight;
  }
};

SPANSCOPE_TEST(tst_gguf_model, TestGgufModel)
#include "tst_gguf_model.moc"
