// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weights.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/arranged_weights.h"
#include "engine/model/tensor_list.h"

#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::model {

std::string fileOf(const WeightSource& source, const std::string& name) {
  for (const StoredTensor& tensor : source.stored()) {
    if (tensor.name == name) return tensor.file;
  }
  return source.name();
}

std::unique_ptr<WeightSource> openWeights(const checkpoint::Checkpoint& checkpoint,
                                          const ModelConfig& config) {
  const Architecture* family = architectureByName(config.architecture);
  if (const std::optional<std::filesystem::path> gguf = checkpoint.gguf())
    return arrange(openGguf(*gguf, config), config, false);
  return arrange(openSafetensors(checkpoint), config, family != nullptr && family->normsLackOne);
}

namespace {

template <class FormatOf>
WeightAmounts amounts(const ModelConfig& config, const FormatOf& formatOf) {
  WeightAmounts result;
  for (const NamedTensor& tensor : tensorsOf(config)) {
    if (!tensor.isMatrix()) continue;
    const bool isKeptTwice = config.tiedEmbeddings && tensor.name == "model.embed_tokens.weight";
    result[formatOf(tensor)] += (isKeptTwice ? 2 : 1) * tensor.rows * tensor.columns;
  }
  return result;
}

}  // namespace

WeightAmounts weightAmounts(const ModelConfig& config, const WeightSource& weights) {
  return amounts(config, [&](const NamedTensor& tensor) {
    return weights.formatOf(tensor.name, tensor.rows, tensor.columns);
  });
}

WeightAmounts weightAmounts(const ModelConfig& config, compute::WeightFormat format) {
  return amounts(config, [format](const NamedTensor&) { return format; });
}

namespace {

ModelConfig base() {
  ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.tiedEmbeddings = true;
  config.normEpsilon = 1e-5F;
  return config;
}

/// Llama 3.2 1B: 1 235 814 400 parameters.
ModelConfig llama1b() {
  ModelConfig config = base();
  config.vocabularySize = 128256;
  config.hiddenSize = 2048;
  config.intermediateSize = 8192;
  config.layers = 16;
  config.heads = 32;
  config.keyValueHeads = 8;
  config.headSize = 64;
  config.attention.rotary->theta = 500000;
  config.attention.rotary->llama3 = Llama3Scaling{32, 1, 4, 8192};
  config.maxPositions = 131072;
  return config;
}

/// Llama 3.1 8B: 8 030 261 248 parameters.
ModelConfig llama8b() {
  ModelConfig config = base();
  config.vocabularySize = 128256;
  config.hiddenSize = 4096;
  config.intermediateSize = 14336;
  config.layers = 32;
  config.heads = 32;
  config.keyValueHeads = 8;
  config.headSize = 128;
  config.attention.rotary->theta = 500000;
  config.attention.rotary->llama3 = Llama3Scaling{8, 1, 4, 8192};
  config.maxPositions = 131072;
  config.tiedEmbeddings = false;
  return config;
}

/// Qwen2.5 7B without its biases on queries, keys and values, because random weights have no biases. It has 7
/// 615 487 488 parameters.
ModelConfig qwen7b() {
  ModelConfig config = base();
  config.vocabularySize = 152064;
  config.hiddenSize = 3584;
  config.intermediateSize = 18944;
  config.layers = 28;
  config.heads = 28;
  config.keyValueHeads = 4;
  config.headSize = 128;
  config.attention.rotary->theta = 1000000;
  config.normEpsilon = 1e-6F;
  config.maxPositions = 131072;
  config.tiedEmbeddings = false;
  return config;
}

/// 21 287 808 parameters: 12 288 000 of them the table, the rest in six layers.
ModelConfig shape21m() {
  ModelConfig config = base();
  config.vocabularySize = 32000;
  config.hiddenSize = 384;
  config.intermediateSize = 960;
  config.layers = 6;
  config.heads = 6;
  config.keyValueHeads = 2;
  config.headSize = 64;
  config.maxPositions = 32768;
  return config;
}

/// 3 148 224 parameters: 786 432 of them the table, the rest in six layers.
ModelConfig shape3m() {
  ModelConfig config = base();
  config.vocabularySize = 4096;
  config.hiddenSize = 192;
  config.intermediateSize = 512;
  config.layers = 6;
  config.heads = 6;
  config.keyValueHeads = 2;
  config.headSize = 32;
  config.maxPositions = 32768;
  return config;
}

struct NamedShape {
  const char* name;
  ModelConfig (*make)();
};

constexpr std::array<NamedShape, 5> kShapes = {
    {{"llama-8b", llama8b}, {"qwen-7b", qwen7b}, {"llama-1b", llama1b}, {"21m", shape21m}, {"3m", shape3m}}};

}  // namespace

std::vector<std::string> shapeList() {
  std::vector<std::string> names;
  for (const NamedShape& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

std::string shapeNames() {
  std::string names;
  for (const NamedShape& shape : kShapes) {
    if (!names.empty()) names += &shape == &kShapes.back() ? " or " : ", ";
    names += shape.name;
  }
  return names;
}

ModelConfig namedShape(const std::string& name) {
  for (const NamedShape& shape : kShapes) {
    if (name == shape.name) return shape.make();
  }
  throw Failure({"", "shape", "\"" + name + "\"", shapeNames()});
}

void addSamples(Digest& digest, std::span<const std::byte> data) {
  constexpr std::size_t kWhole = 8192;
  constexpr std::size_t kPiece = 256;
  constexpr std::size_t kPieces = 16;
  if (data.size() <= kWhole) {
    digest.add(data);
    return;
  }
  const std::size_t last = data.size() - kPiece;
  for (std::size_t i = 0; i < kPieces; ++i) digest.add(data.subspan(last * i / (kPieces - 1), kPiece));
}

// A Hugging Face model directory as a source of weights.

namespace {

using checkpoint::kSafetensorsFile;
using checkpoint::kSafetensorsIndex;

class SafetensorsWeights final : public WeightSource {
 public:
  explicit SafetensorsWeights(std::filesystem::path directory) : m_directory(std::move(directory)) {}

  /// Returns the tensors of one file: all, or those of `wanted`, which must exist.
  void addFile(const std::string& name, const std::set<std::string>* wanted) {
    const std::string path = (m_directory / name).string();
    m_files.emplace_back(m_directory / name);
    checkpoint::SafetensorsFile file = m_files.back().read(
        [&](std::span<const std::byte> bytes) { return checkpoint::parseSafetensors(bytes, path); });
    if (wanted == nullptr) {
      for (auto& [tensor, entry] : file.tensors) m_tensors.emplace(tensor, Located{path, std::move(entry)});
      return;
    }
    for (const std::string& tensor : *wanted) {
      const auto found = file.tensors.find(tensor);
      if (found == file.tensors.end()) {
        throw Failure({path, checkpoint::inQuotes(tensor), "no such tensor",
                       std::string("it here, as ") + kSafetensorsIndex + " says"});
      }
      m_tensors.emplace(tensor, Located{path, std::move(found->second)});
    }
    for (const auto& [tensor, entry] : file.tensors) {
      if (!wanted->contains(tensor)) m_unlisted.emplace(tensor, path);
    }
  }

  bool has(const std::string& name) const override { return m_tensors.contains(name); }

  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    const auto found = m_tensors.find(name);
    const auto high = static_cast<std::uint64_t>(rows);
    const auto wide = static_cast<std::uint64_t>(columns);
    const std::vector<std::uint64_t> matrix = {high, wide};
    const std::vector<std::uint64_t> vector = {wide};
    const std::string expected = rows == 1 ? checkpoint::shapeText(vector) : checkpoint::shapeText(matrix);
    if (found == m_tensors.end()) {
      throw Failure({m_directory.string(), name, "no such tensor", "one of shape " + expected});
    }
    const checkpoint::SafetensorsTensor& tensor = found->second.tensor;
    if (tensor.shape != matrix && !(rows == 1 && tensor.shape == vector)) {
      throw Failure(
          {found->second.file, name, "shape " + checkpoint::shapeText(tensor.shape), "shape " + expected});
    }
    if (!tensor.type)
      throw Failure({found->second.file, name, "type " + tensor.typeName, "F32, F16 or BF16"});
    return {tensor.data.data(), compute::formatOf(*tensor.type), rows, columns};
  }

  void requireWhole() const override {
    for (const checkpoint::MappedFile& file : m_files) file.requireWhole();
  }
  void requireUnchanged() const override {
    for (const checkpoint::MappedFile& file : m_files) file.requireUnchanged();
  }

  std::vector<StoredTensor> stored() const override {
    std::map<std::string, std::string> files = m_unlisted;
    for (const auto& [name, located] : m_tensors) files.insert_or_assign(name, located.file);
    std::vector<StoredTensor> tensors;
    for (const auto& [name, file] : files) tensors.push_back({name, file});
    return tensors;
  }

  std::string fingerprint() const override {
    Digest digest;
    for (const auto& [name, located] : m_tensors) {
      digest.add(name);
      digest.add(located.tensor.typeName);
      digest.add(located.tensor.shape);
      addSamples(digest, located.tensor.data);
    }
    requireWhole();
    return digest.value().hex();
  }

  std::string name() const override { return m_directory.string(); }

 private:
  struct Located {
    std::string file;
    checkpoint::SafetensorsTensor tensor;
  };

  std::filesystem::path m_directory;
  std::vector<checkpoint::MappedFile> m_files;  ///< the tensors point into these
  std::map<std::string, Located> m_tensors;
  std::map<std::string, std::string> m_unlisted;  ///< files of tensors that the index does not name
};

/// A shard must be a file of the directory itself. The index comes from outside, and must not name other
/// files.
bool isPlainFileName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

std::map<std::string, std::set<std::string>> readIndex(const std::filesystem::path& path) {
  const checkpoint::MappedFile file(path);
  return file.read([&](std::span<const std::byte> bytes) {
    return checkpoint::readJsonText(
        {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string(), "an index of tensors",
        [](const checkpoint::JsonPlace& root) {
          const checkpoint::JsonPlace map = root.field("weight_map");
          if (!map.value().is_object()) throw map.unexpected("an object: tensor name → file name");
          std::map<std::string, std::set<std::string>> shards;
          for (const auto& [tensor, value] : map.value().items()) {
            const checkpoint::JsonPlace shard = map.member(tensor, value);
            if (!isPlainFileName(shard.requireText()))
              throw shard.unexpected("the name of a file in the same directory");
            shards[shard.requireText()].insert(tensor);
          }
          return shards;
        },
        checkpoint::kConfigurationRules);
  });
}

}  // namespace

std::unique_ptr<WeightSource> openSafetensors(const checkpoint::Checkpoint& checkpoint) {
  auto weights = std::make_unique<SafetensorsWeights>(checkpoint.path());
  if (checkpoint.find(kSafetensorsFile)) {
    weights->addFile(kSafetensorsFile, nullptr);
  } else if (const auto index = checkpoint.find(kSafetensorsIndex)) {
    for (const auto& [shard, tensors] : readIndex(*index)) weights->addFile(shard, &tensors);
  } else {
    throw Failure({checkpoint.path().string(), "", "neither",
                   std::string(kSafetensorsFile) + " or " + kSafetensorsIndex});
  }
  return weights;
}

}  // namespace spanscope::model
