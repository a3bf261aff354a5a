// SPDX-License-Identifier: GPL-3.0-or-later
// Files of models as people have them: other forms of whole models are opened, and a damaged or unsuitable
// model is refused with its real cause. The list of models, the problems of a document and loading agree.
#include "engine/checkpoint/json_reading.h"
#include "engine/model/weight_reader.h"
#include "engine/model/weights.h"
#include "engine/workbench/finder/model_finder.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/model_problem.h"
#include "engine/workbench/setting_choices.h"
#include "tests/engine/checkpoint/gguf_writer.h"
#include "tests/engine/text/text_test_support.h"
#include "tests/support/backends.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>

using namespace spanscope;
using namespace spanscope::workbench;
using spanscope::product_text::says;
using spanscope::text::test::GgufWriter;
using spanscope::text::test::readFile;
using Path = std::filesystem::path;
using nlohmann::json;

namespace {

void putFile(const Path& path, std::string_view bytes) {
  text::test::writeFile(path, bytes);
}

struct Tensor {
  std::string type;
  std::vector<std::uint64_t> shape;
  std::string bytes;

  void replace(std::size_t element, float value) {
    std::memcpy(bytes.data() + element * sizeof(float), &value, sizeof(float));
  }
};
using Tensors = std::map<std::string, Tensor>;

/// A tensor of f32 whose values depend on its name.
Tensor tensorOf(const std::string& name, std::vector<std::uint64_t> shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t size : shape) elements *= size;
  std::string bytes;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const float value = static_cast<float>((i * 7 + name.size()) % 11) / 8 - 0.5F;
    char raw[sizeof(float)];
    std::memcpy(raw, &value, sizeof(float));
    bytes.append(raw, sizeof(float));
  }
  return {"F32", std::move(shape), std::move(bytes)};
}

constexpr std::uint64_t kVocabulary = 2048;  // of the bundled model's tokenizer

/// The tensors of a Llama of one layer.
Tensors llamaTensors() {
  Tensors tensors;
  const auto add = [&tensors](const std::string& name, std::vector<std::uint64_t> shape) {
    tensors[name] = tensorOf(name, std::move(shape));
  };
  add("model.embed_tokens.weight", {kVocabulary, 16});
  add("model.norm.weight", {16});
  const std::string layer = "model.layers.0.";
  add(layer + "input_layernorm.weight", {16});
  add(layer + "post_attention_layernorm.weight", {16});
  add(layer + "self_attn.q_proj.weight", {16, 16});
  add(layer + "self_attn.k_proj.weight", {8, 16});
  add(layer + "self_attn.v_proj.weight", {8, 16});
  add(layer + "self_attn.o_proj.weight", {16, 16});
  add(layer + "mlp.gate_proj.weight", {24, 16});
  add(layer + "mlp.up_proj.weight", {24, 16});
  add(layer + "mlp.down_proj.weight", {16, 24});
  return tensors;
}

json llamaConfig() {
  return {{"architectures", {"LlamaForCausalLM"}},
          {"model_type", "llama"},
          {"vocab_size", kVocabulary},
          {"hidden_size", 16},
          {"intermediate_size", 24},
          {"num_hidden_layers", 1},
          {"num_attention_heads", 2},
          {"num_key_value_heads", 1},
          {"tie_word_embeddings", true},
          {"eos_token_id", 7}};
}

std::string safetensors(const Tensors& tensors) {
  json header = json::object();
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.type},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  const std::string text = header.dump();
  std::string length(8, '\0');
  for (std::size_t i = 0; i < length.size(); ++i)
    length[i] = static_cast<char>((text.size() >> (8 * i)) & 0xFF);
  return length + text + data;
}

/// A folder with a whole model, which a test changes.
struct Folder {
  Path path;
  json config = llamaConfig();
  Tensors tensors = llamaTensors();

  void write() const {
    writeConfig();
    writeWeights();
    const Path bundled = text::test::bundledModel();
    for (const char* file : {"tokenizer.model", "tokenizer_config.json"})
      putFile(path / file, readFile(bundled / file));
  }
  void writeConfig() const { putFile(path / "config.json", config.dump(1)); }
  void writeWeights() const { putFile(path / "model.safetensors", safetensors(tensors)); }
  void rename(const std::function<std::string(const std::string&)>& change) {
    Tensors renamed;
    for (const auto& [name, tensor] : tensors) renamed[change(name)] = tensor;
    tensors = std::move(renamed);
  }
};

const std::string kPointer =
    "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') + "\nsize 1234\n";

/// A Llama of one layer, or one of its parts. `part`: 0: the whole model. `pooling`: the value of its key; 0:
/// no key.
std::string gguf(const std::string& preTokenizer, std::uint32_t part = 0, std::uint32_t pooling = 0) {
  GgufWriter file;
  file.text("general.architecture", "llama");
  const auto number = [&file](const std::string& key, std::uint32_t value) {
    file.unsignedInteger("llama." + key, value);
  };
  number("block_count", 1);
  number("context_length", 256);
  number("embedding_length", 16);
  number("feed_forward_length", 24);
  number("attention.head_count", 2);
  number("attention.head_count_kv", 1);
  file.number("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  if (pooling > 0) number("pooling_type", pooling);
  file.text("tokenizer.ggml.model", "gpt2");
  file.text("tokenizer.ggml.pre", preTokenizer);
  file.texts("tokenizer.ggml.tokens", text::test::byteLevelPieces());
  file.texts("tokenizer.ggml.merges", {});
  if (part > 0) {
    file.unsignedInteger("split.count", 2);
    file.unsignedInteger("split.no", part - 1);
  }
  const auto tensor = [&file](const std::string& name, std::uint64_t columns, std::uint64_t rows = 1) {
    std::vector<std::uint64_t> shape{columns};
    if (rows > 1) shape.push_back(rows);
    file.tensor(name, shape, 0, std::string(columns * rows * 4, '\0'));
  };
  if (part != 2) {
    tensor("token_embd.weight", 16, 256);
    tensor("output_norm.weight", 16);
    tensor("blk.0.attn_norm.weight", 16);
    tensor("blk.0.ffn_norm.weight", 16);
    tensor("blk.0.attn_q.weight", 16, 16);
    tensor("blk.0.attn_k.weight", 16, 8);
    tensor("blk.0.attn_v.weight", 16, 8);
    tensor("blk.0.attn_output.weight", 16, 16);
  }
  if (part != 1) {
    tensor("blk.0.ffn_gate.weight", 16, 24);
    tensor("blk.0.ffn_up.weight", 16, 24);
    tensor("blk.0.ffn_down.weight", 24, 16);
  }
  return file.bytes();
}

RunSettings settingsOf(const Path& model) {
  RunSettings settings;
  settings.model = model.string();
  settings.chatTemplate = "spanlet";
  return settings;
}

struct BrokenModel {
  const char* name;
  const char* cause;  ///< pattern of the error: ids of texts, and names that the error must have
  std::function<Path(Folder&)> make;  ///< returns the model
};

/// Writes the folder, then changes one of its files.
std::function<Path(Folder&)> afterWriting(std::function<void(const Path&)> change) {
  return [change = std::move(change)](Folder& folder) {
    folder.write();
    change(folder.path);
    return folder.path;
  };
}

/// Changes the folder before it is written.
std::function<Path(Folder&)> beforeWriting(std::function<void(Folder&)> change) {
  return [change = std::move(change)](Folder& folder) {
    change(folder);
    folder.write();
    return folder.path;
  };
}

const std::vector<BrokenModel>& brokenModels() {
  static const std::vector<BrokenModel> kModels = {
      {"pointer in place of weights", "<file-is-pointer>",
       afterWriting([](const Path& path) { putFile(path / "model.safetensors", kPointer); })},
      {"pointer in place of the tokenizer", "<file-is-pointer>",
       afterWriting([](const Path& path) { putFile(path / "tokenizer.model", kPointer); })},
      {"web page in place of weights", "<file-is-page>", afterWriting([](const Path& path) {
         putFile(path / "model.safetensors", "\n<!DOCTYPE html><html><head></head></html>");
       })},
      {"zeros of an unfinished download", "<file-of-zeros>",
       afterWriting([](const Path& path) { putFile(path / "model.safetensors", std::string(5000, '\0')); })},
      {"truncated weights", "model.safetensors", afterWriting([](const Path& path) {
         const std::string bytes = readFile(path / "model.safetensors");
         putFile(path / "model.safetensors", std::string_view(bytes).substr(0, bytes.size() - 100));
       })},
      {"GGUF under another name", "<file-is-gguf>",
       afterWriting([](const Path& path) { putFile(path / "model.safetensors", gguf("gpt-2")); })},
      {"AWQ", "AWQ", beforeWriting([](Folder& folder) {
         folder.config["quantization_config"] = {{"quant_method", "awq"}, {"bits", 4}};
       })},
      {"GPTQ", "GPTQ", afterWriting([](const Path& path) { putFile(path / "quantize_config.json", "{}"); })},
      {"bitsandbytes", "bitsandbytes", beforeWriting([](Folder& folder) {
         folder.config["quantization_config"] = {{"quant_method", "bitsandbytes"}, {"load_in_4bit", true}};
       })},
      {"MLX", "<quantised-by-mlx>", beforeWriting([](Folder& folder) {
         folder.config["quantization"] = {{"group_size", 64}, {"bits", 4}};
       })},
      {"a norm is missing", "model.norm.weight",
       beforeWriting([](Folder& folder) { folder.tensors.erase("model.norm.weight"); })},
      {"a norm of another shape", "model.norm.weight",
       beforeWriting([](Folder& folder) { folder.tensors["model.norm.weight"] = tensorOf("x", {8}); })},
      {"a norm of bytes", "I8", beforeWriting([](Folder& folder) {
         folder.tensors["model.norm.weight"] = {"I8", {16}, std::string(16, '\1')};
       })},
      {"a weight that is no number", "model.layers.0.mlp.up_proj.weight", beforeWriting([](Folder& folder) {
         folder.tensors["model.layers.0.mlp.up_proj.weight"].replace(8, std::nanf(""));
       })},
      {"an infinite weight", "model.norm.weight", beforeWriting([](Folder& folder) {
         folder.tensors["model.norm.weight"].replace(15, std::numeric_limits<float>::infinity());
       })},
      {"a bias that the configuration does not state", "self_attn.q_proj.bias",
       beforeWriting([](Folder& folder) {
         folder.tensors["model.layers.0.self_attn.q_proj.bias"] = tensorOf("x", {16});
       })},
      {"only weights of PyTorch", "pytorch_model.bin", afterWriting([](const Path& path) {
         std::filesystem::rename(path / "model.safetensors", path / "pytorch_model.bin");
       })},
      {"parts without an index", "model-00001-of-00002.safetensors", afterWriting([](const Path& path) {
         std::filesystem::rename(path / "model.safetensors", path / "model-00001-of-00002.safetensors");
       })},
      {"an index of a missing file", "model-00002-of-00002.safetensors", afterWriting([](const Path& path) {
         std::filesystem::remove(path / "model.safetensors");
         putFile(path / "model.safetensors.index.json",
                 R"({"weight_map": {"model.norm.weight": "model-00002-of-00002.safetensors"}})");
       })},
      {"an adapter alone", "<folder-is-adapter>",
       [](Folder& folder) {
         putFile(folder.path / "adapter_config.json", "{}");
         return folder.path;
       }},
      {"a folder of the cache", "<folder-is-cache>",
       [](Folder& folder) {
         std::filesystem::create_directories(folder.path / "snapshots" / "abc");
         return folder.path;
       }},
      {"no tokenizer", "<no-tokenizer>",
       afterWriting([](const Path& path) { std::filesystem::remove(path / "tokenizer.model"); })},
      {"the tokenizer of another model", "<piece-without-row>", beforeWriting([](Folder& folder) {
         folder.config["vocab_size"] = 1000;
         folder.tensors["model.embed_tokens.weight"] = tensorOf("x", {1000, 16});
       })},
      {"an end token outside of the vocabulary", "eos_token_id", afterWriting([](const Path& path) {
         putFile(path / "generation_config.json", R"({"eos_token_id": 99999})");
       })},
      {"an infinite base of the rotation", "\"Infinity\"", afterWriting([](const Path& path) {
         putFile(path / "config.json", R"({"rope_theta": Infinity,)" + llamaConfig().dump().substr(1));
       })},
      {"a truncated configuration", "config.json",
       afterWriting([](const Path& path) { putFile(path / "config.json", "{\"model_type\": "); })},
      {"a mixture that is not computed", "made_up", beforeWriting([](Folder& folder) {
         folder.config["architectures"] = {"MadeUpForCausalLM"};
         folder.config["model_type"] = "made_up";
       })},
      {"joined parts", "<parts-joined>",
       [](Folder& folder) {
         putFile(folder.path / "m.gguf", gguf("gpt-2", 1) + gguf("gpt-2", 2));
         return folder.path / "m.gguf";
       }},
      {"a renamed part", "<part-renamed>",
       [](Folder& folder) {
         putFile(folder.path / "m.gguf", gguf("gpt-2", 1));
         putFile(folder.path / "n.gguf", gguf("gpt-2", 2));
         return folder.path / "m.gguf";
       }},
      {"the second part", "split.no",
       [](Folder& folder) {
         putFile(folder.path / "m-00002-of-00002.gguf", gguf("gpt-2", 2));
         return folder.path / "m-00002-of-00002.gguf";
       }},
      {"a truncated GGUF file", "blk.0.ffn_down.weight",
       [](Folder& folder) {
         const std::string bytes = gguf("gpt-2");
         putFile(folder.path / "m.gguf", std::string_view(bytes).substr(0, bytes.size() - 100));
         return folder.path / "m.gguf";
       }},
      {"an unknown pre-tokenizer", "<tokenizer-json-beside>",
       [](Folder& folder) {
         putFile(folder.path / "m.gguf", gguf("of-tomorrow"));
         return folder.path / "m.gguf";
       }},
  };
  return kModels;
}

/// Another form of the same model.
struct OtherForm {
  const char* name;
  std::function<Path(Folder&)> make;
};

const std::vector<OtherForm>& otherForms() {
  static const std::vector<OtherForm> kForms = {
      {"names without a prefix", beforeWriting([](Folder& folder) {
         folder.rename([](const std::string& name) { return name.substr(std::strlen("model.")); });
       })},
      {"names of a text part", beforeWriting([](Folder& folder) {
         folder.rename([](const std::string& name) { return "language_model." + name; });
       })},
      {"newer names of a text part", beforeWriting([](Folder& folder) {
         folder.rename([](const std::string& name) {
           return "model.language_model." + name.substr(std::strlen("model."));
         });
       })},
      {"tensors of other parts", beforeWriting([](Folder& folder) {
         folder.tensors["vision_tower.patch.weight"] = tensorOf("x", {4, 4});
         folder.tensors["score.weight"] = tensorOf("x", {2, 16});
       })},
      {"a head that was not saved",
       beforeWriting([](Folder& folder) { folder.config["tie_word_embeddings"] = false; })},
      {"a mark before the text", afterWriting([](const Path& path) {
         putFile(path / "config.json", "\xEF\xBB\xBF" + readFile(path / "config.json"));
       })},
      {"unused NaN and Infinity", afterWriting([](const Path& path) {
         putFile(path / "config.json",
                 R"({"time_step_limit": [0.0, Infinity, -Infinity], "NaN": NaN, "text": "a NaN",)" +
                     llamaConfig().dump().substr(1));
       })},
  };
  return kForms;
}

/// The bytes of all tensors that the decoder uses.
std::map<std::string, std::string> decoderTensors(const Path& path) {
  const model::ModelConfig config = model::readConfig(path);
  const auto weights = model::openWeights(path, config);
  std::map<std::string, std::string> tensors;
  for (const model::NamedTensor& tensor : model::tensorsOf(config)) {
    const compute::HostMatrix matrix = weights->get(tensor.name, tensor.rows, tensor.columns);
    tensors[tensor.name] =
        std::string(reinterpret_cast<const char*>(matrix.data),
                    static_cast<std::size_t>(tensor.rows * tensor.columns) * sizeof(float));
  }
  return tensors;
}

}  // namespace

class TestModelFiles : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    m_directory = std::make_unique<QTemporaryDir>();
    m_folder = Folder{.path = m_directory->path().toStdString()};
  }

  void theWholeModelOpens() {
    m_folder.write();
    QCOMPARE(readModelHeader(m_folder.path).problem, std::string());
    QVERIFY(!lookAtModel(settingsOf(m_folder.path)).reason);
    const ModelBundle bundle = loadModelBundle(m_folder.path, spanscope::test::cpuBackends(), {});
    QVERIFY(bundle.decoder != nullptr);
    QVERIFY(bundle.ignoredTensors.empty());
    QVERIFY(!bundle.config.lacksHead);
  }

  void brokenModelsAreRefused_data() {
    QTest::addColumn<int>("row");
    for (std::size_t i = 0; i < brokenModels().size(); ++i)
      QTest::newRow(brokenModels()[i].name) << static_cast<int>(i);
  }
  void brokenModelsAreRefused() {
    QFETCH(int, row);
    const BrokenModel& broken = brokenModels()[static_cast<std::size_t>(row)];
    const Path path = broken.make(m_folder);
    std::string loading;
    try {
      ModelOptions options;
      options.chat = templateOf("spanlet");
      loadModelBundle(path, spanscope::test::cpuBackends(), options);
    } catch (const Failure& failure) {
      loading = failure.what();
    }
    QVERIFY2(says(loading, broken.cause), loading.c_str());
    const std::string listed = readModelHeader(path, CheckDepth::Weights).problem;
    QVERIFY2(says(listed, broken.cause), listed.c_str());
    const ModelLook look = lookAtModel(settingsOf(path));
    QVERIFY(look.reason && !look.reason->isOfTemplate && !look.model);
    QVERIFY2(says(look.reason->error.message(), broken.cause), look.reason->error.message().c_str());
  }

  void otherFormsAreOpened_data() {
    QTest::addColumn<int>("row");
    for (std::size_t i = 0; i < otherForms().size(); ++i)
      QTest::newRow(otherForms()[i].name) << static_cast<int>(i);
  }
  void otherFormsAreOpened() {
    QFETCH(int, row);
    QTemporaryDir other;
    Folder plain{.path = other.path().toStdString()};
    plain.write();
    const Path path = otherForms()[static_cast<std::size_t>(row)].make(m_folder);
    QCOMPARE(readModelHeader(path).problem, std::string());
    const ModelLook look = lookAtModel(settingsOf(path));
    QVERIFY2(!look.reason, look.reason ? look.reason->error.message().c_str() : "");
    QVERIFY(decoderTensors(path) == decoderTensors(plain.path));
    const ModelBundle bundle = loadModelBundle(path, spanscope::test::cpuBackends(), {});
    QCOMPARE(bundle.ignoredTensors.size(), m_folder.tensors.size() - llamaTensors().size());
    QCOMPARE(bundle.config.lacksHead, !m_folder.config["tie_word_embeddings"].get<bool>());
    QVERIFY(bundle.config.tiedEmbeddings);
  }

  /// Two tensors may not get one name.
  void twoTensorsOfOneMeaning() {
    m_folder.rename([](const std::string& name) { return name.substr(std::strlen("model.")); });
    m_folder.tensors["model.norm.weight"] = tensorOf("x", {16});
    m_folder.write();
    const std::string problem = readModelHeader(m_folder.path).problem;
    QVERIFY2(problem.find("norm.weight") != std::string::npos, problem.c_str());
  }

  void numbersThatAreNotFinite() {
    const auto quoted = [](const char* text) { return checkpoint::withQuotedNotFinite(text); };
    QCOMPARE(quoted(R"({"a": [NaN, -Infinity,Infinity]})"),
             std::string(R"({"a": ["NaN", "-Infinity","Infinity"]})"));
    const char* inTexts = "{\"NaN\": \"Infinity \\\" NaN\"}";
    QCOMPARE(quoted(inTexts), std::string(inTexts));
    QCOMPARE(quoted(""), std::string());
  }

  void pooling() {
    m_folder.write();
    QVERIFY(model::readConfig(m_folder.path).pooling == model::Pooling::None);
    std::filesystem::create_directory(m_folder.path / "1_Pooling");
    const Path file = m_folder.path / "1_Pooling" / "config.json";
    putFile(file, R"({"pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true})");
    QVERIFY(model::readConfig(m_folder.path).pooling == model::Pooling::Last);
    putFile(file, R"({"pooling_mode_mean_tokens": true})");
    QVERIFY(model::readConfig(m_folder.path).pooling == model::Pooling::Mean);
    const Path ggufFile = m_folder.path / "m.gguf";
    for (const auto& [number, pooling] :
         {std::pair(0U, model::Pooling::None), std::pair(1U, model::Pooling::Mean),
          std::pair(2U, model::Pooling::None), std::pair(3U, model::Pooling::Last)}) {
      putFile(ggufFile, gguf("gpt-2", 0, number));
      QVERIFY(model::readConfig(ggufFile).pooling == pooling);
    }
  }

 private:
  std::unique_ptr<QTemporaryDir> m_directory;
  Folder m_folder;
};

SPANSCOPE_TEST(tst_model_files, TestModelFiles)
#include "tst_model_files.moc"
