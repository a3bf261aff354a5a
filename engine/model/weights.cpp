// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weights.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/weight_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

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
  const std::optional<std::filesystem::path> gguf = checkpoint.gguf();
  std::unique_ptr<WeightSource> source = gguf ? openGguf(*gguf, config) : openSafetensors(checkpoint);
  if (config.experts.count > 0) source = splitExperts(std::move(source), config);
  return arrange(std::move(source), config, !gguf && family != nullptr && family->normsLackOne);
}

std::span<const std::byte> WeightSource::bytesOf(const std::string& name, std::size_t count) const {
  throw Failure({fileOf(*this, name), name, "no such tensor of bytes", counted(count, "byte")});
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

/// A shape of a model like Llama without biases, because random weights have no biases.
struct NamedShape {
  const char* name;
  std::int32_t vocabularySize;
  std::int32_t hiddenSize;
  std::int32_t intermediateSize;
  std::int32_t layers;
  std::int32_t heads;
  std::int32_t keyValueHeads;
  std::int32_t headSize;
  std::int64_t maxPositions = 32768;
  bool tiedEmbeddings = true;
  std::optional<double> theta{};
  std::optional<Llama3Scaling> scaling{};
  float normEpsilon = 1e-5F;
};

constexpr std::array<NamedShape, 5> kShapes = {{
    // Llama 3.1 8B: 8 030 261 248 parameters.
    {"llama-8b", 128256, 4096, 14336, 32, 32, 8, 128, 131072, false, 500000, Llama3Scaling{8, 1, 4, 8192}},
    // Qwen2.5 7B without its biases: 7 615 487 488 parameters.
    {"qwen-7b", 152064, 3584, 18944, 28, 28, 4, 128, 131072, false, 1000000, std::nullopt, 1e-6F},
    // Llama 3.2 1B: 1 235 814 400 parameters.
    {"llama-1b", 128256, 2048, 8192, 16, 32, 8, 64, 131072, true, 500000, Llama3Scaling{32, 1, 4, 8192}},
    // 21 287 808 parameters: 12 288 000 of them the table, the rest in six layers.
    {"21m", 32000, 384, 960, 6, 6, 2, 64},
    // 3 148 224 parameters: 786 432 of them the table, the rest in six layers.
    {"3m", 4096, 192, 512, 6, 6, 2, 32},
}};

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
  const auto* const shape = std::ranges::find(kShapes, name, &NamedShape::name);
  if (shape == kShapes.end()) throw Failure({"", "shape", "\"" + name + "\"", shapeNames()});
  ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.tiedEmbeddings = shape->tiedEmbeddings;
  config.normEpsilon = shape->normEpsilon;
  config.vocabularySize = shape->vocabularySize;
  config.hiddenSize = shape->hiddenSize;
  config.intermediateSize = shape->intermediateSize;
  config.layers = shape->layers;
  config.heads = shape->heads;
  config.keyValueHeads = shape->keyValueHeads;
  config.headSize = shape->headSize;
  config.maxPositions = shape->maxPositions;
  if (shape->theta) config.attention.rotary->theta = *shape->theta;
  config.attention.rotary->llama3 = shape->scaling;
  return config;
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

  /// Returns the tensors of one file: all, or the tensors of `wanted`, which must exist.
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
                       std::string("this tensor in this file, as in ") + kSafetensorsIndex});
      }
      m_tensors.emplace(tensor, Located{path, std::move(found->second)});
    }
    for (const auto& [tensor, entry] : file.tensors) {
      if (!wanted->contains(tensor)) m_unlisted.emplace(tensor, path);
    }
  }

  /// Gives the tensors the names of a model that generates. A model of embeddings is saved without the prefix
  /// "model.". The text part of a model of images has a longer prefix. Call this after the last addFile().
  void unifyNames() {
    const auto prefix = std::find_if(kPrefixes.begin(), kPrefixes.end(), [this](std::string_view candidate) {
      return m_tensors.contains(std::string(candidate) + "embed_tokens.weight");
    });
    if (prefix == kPrefixes.begin() || prefix == kPrefixes.end()) return;
    std::map<std::string, Located> renamed;
    for (auto& [name, located] : m_tensors) {
      std::string unified = unifiedName(name, *prefix);
      const auto [place, isNew] = renamed.emplace(std::move(unified), std::move(located));
      if (!isNew) {
        throw Failure({place->second.file, checkpoint::inQuotes(name),
                       "a second tensor with the meaning of " + checkpoint::inQuotes(place->first),
                       "every tensor once"});
      }
    }
    m_tensors = std::move(renamed);
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
      throw Failure({m_directory.string(), name, "no such tensor", "a tensor of shape " + expected});
    }
    const checkpoint::SafetensorsTensor& tensor = found->second.tensor;
    if (flattened(tensor.shape) != matrix && !(rows == 1 && tensor.shape == vector)) {
      throw Failure(
          {found->second.file, name, "shape " + checkpoint::shapeText(tensor.shape), "shape " + expected});
    }
    if (!tensor.type)
      throw Failure({found->second.file, name, "type " + tensor.typeName, "F32, F16 or BF16"});
    return {tensor.data.data(), compute::formatOf(*tensor.type), rows, columns};
  }

  std::span<const std::byte> bytesOf(const std::string& name, std::size_t count) const override {
    const auto found = m_tensors.find(name);
    if (found == m_tensors.end()) return WeightSource::bytesOf(name, count);
    const checkpoint::SafetensorsTensor& tensor = found->second.tensor;
    if (tensor.typeName != "U8") throw Failure({found->second.file, name, "type " + tensor.typeName, "U8"});
    if (tensor.data.size() != count) {
      throw Failure(
          {found->second.file, name, "shape " + checkpoint::shapeText(tensor.shape), counted(count, "byte")});
    }
    return tensor.data;
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

  static constexpr std::string_view kDecoder = "model.";
  static constexpr std::string_view kHead = "lm_head.";
  static constexpr std::array<std::string_view, 5> kPrefixes = {
      kDecoder, "language_model.model.", "model.language_model.", "language_model.", ""};

  static std::string unifiedName(std::string_view name, std::string_view prefix) {
    const std::size_t head = name.find(kHead);
    if (head != std::string_view::npos && (head == 0 || name.substr(0, head) == "language_model."))
      return std::string(name.substr(head));
    if (!name.starts_with(prefix) || isOfOtherPart(name)) return std::string(name);
    return std::string(kDecoder) + std::string(name.substr(prefix.size()));
  }

  std::filesystem::path m_directory;
  std::vector<checkpoint::MappedFile> m_files;  ///< the tensors point into these files
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
              throw shard.unexpected(/*id:name-file-same*/ "the name of a file in the same directory");
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
    throw Failure({checkpoint.path().string(), "", checkpoint.otherWeights(),
                   std::string(kSafetensorsFile) + " or " + kSafetensorsIndex});
  }
  weights->unifyNames();
  return weights;
}

namespace {

/// Rows of a stored matrix that contains several matrices.
struct Part {
  std::string whole;  ///< the name of the stored matrix
  std::int64_t wholeRows = 0;
  std::int64_t firstRow = 0;
};

/// The differences between a family's storage and the decoder's arrangement.
class Arrangement {
 public:
  using Parts = std::vector<std::pair<std::string_view, std::int64_t>>;

  explicit Arrangement(const ModelConfig& config) : m_config(config) {}

  /// The stored matrices that contain several matrices, and the first row of each contained matrix.
  std::array<std::pair<std::string_view, Parts>, 2> wholes() const {
    return {{{kQueryKeyValue,
              {{"self_attn.q_proj", 0},
               {"self_attn.k_proj", queryRows()},
               {"self_attn.v_proj", queryRows() + keyRows()}}},
             {kGateUp, {{"mlp.gate_proj", 0}, {"mlp.up_proj", m_config.intermediateSize}}}}};
  }
  std::int64_t rowsOf(std::string_view whole) const {
    return whole == kQueryKeyValue ? queryRows() + 2 * keyRows()
                                   : 2 * std::int64_t{m_config.intermediateSize};
  }

  /// For query and key matrices whose rows have another order in the files.
  std::optional<std::int32_t> rotatedHeads(std::string_view name) const {
    if (turned() == 0 && !m_config.pairsAdjacent) return std::nullopt;
    if (name.find(".self_attn.q_proj") != std::string_view::npos) return m_config.heads;
    if (name.find(".self_attn.k_proj") != std::string_view::npos) return m_config.keyValueHeads;
    return std::nullopt;
  }

  /// Writes the rows of some heads in the decoder's order. Each row has `rowBytes` bytes.
  std::vector<std::byte> ordered(const std::byte* rows, std::size_t rowBytes, std::int32_t heads) const {
    const std::int64_t headRows = m_config.headSize;
    std::vector<std::byte> out(static_cast<std::size_t>(heads * headRows) * rowBytes);
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t row = 0; row < headRows; ++row) {
        const auto from = static_cast<std::size_t>(head * headRows + row);
        const auto to = static_cast<std::size_t>(head * headRows + placeOf(row));
        std::memcpy(out.data() + to * rowBytes, rows + from * rowBytes, rowBytes);
      }
    }
    return out;
  }

 private:
  static constexpr std::string_view kQueryKeyValue = "self_attn.qkv_proj";
  static constexpr std::string_view kGateUp = "mlp.gate_up_proj";

  std::int64_t queryRows() const { return std::int64_t{m_config.heads} * m_config.headSize; }
  std::int64_t keyRows() const { return std::int64_t{m_config.keyValueHeads} * m_config.headSize; }
  /// The rotated elements of a head; the same in all layers.
  std::int32_t turned() const { return m_config.attention.rotary ? m_config.attention.rotary->turned : 0; }

  /// Returns the place of row i of a head in the decoder's order.
  std::int64_t placeOf(std::int64_t row) const {
    const std::int64_t part = (turned() > 0 ? turned() : m_config.headSize) / 2;
    const std::int64_t half = m_config.headSize / 2;
    if (row < 2 * part && m_config.pairsAdjacent) return row % 2 * half + row / 2;
    if (row < part) return row;
    if (row < 2 * part) return half + row - part;
    const std::int64_t rest = row - 2 * part;  // fills the rest of both halves
    return rest < half - part ? part + rest : half + part + rest - (half - part);
  }

  ModelConfig m_config;
};

class ArrangedWeights final : public WeightSource {
 public:
  ArrangedWeights(std::unique_ptr<WeightSource> source, const ModelConfig& config, bool normsLackOne)
      : m_source(std::move(source)), m_arrangement(config), m_normsLackOne(normsLackOne) {
    for (const StoredTensor& tensor : m_source->stored()) {
      std::string prefix;
      for (const auto& [whole, parts] : m_arrangement.wholes()) {
        const std::string_view name = tensor.name;
        const std::size_t at = name.rfind(whole);
        if (at == std::string_view::npos || !name.starts_with("model.layers.")) continue;
        const std::string before(name.substr(0, at));
        const std::string after(name.substr(at + whole.size()));
        for (const auto& [part, first] : parts) {
          m_parts.emplace(before + std::string(part) + after,
                          Part{tensor.name, m_arrangement.rowsOf(whole), first});
          m_stored.push_back({before + std::string(part) + after, tensor.file});
        }
        prefix = before;
      }
      if (prefix.empty()) m_stored.push_back(tensor);
    }
  }

  bool has(const std::string& name) const override { return m_parts.contains(name) || m_source->has(name); }

  compute::WeightFormat formatOf(const std::string& name, std::int64_t rows,
                                 std::int64_t columns) const override {
    if (lacksOne(name)) return compute::WeightFormat::F32;
    const auto part = m_parts.find(name);
    if (part == m_parts.end()) return m_source->formatOf(name, rows, columns);
    return m_source->formatOf(part->second.whole, part->second.wholeRows, columns);
  }

  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    compute::HostMatrix matrix = cut(name, rows, columns);
    const std::optional<std::int32_t> heads = m_arrangement.rotatedHeads(name);
    if (!heads && !lacksOne(name)) return matrix;
    auto known = m_changed.find(name);
    if (known == m_changed.end())
      known = m_changed.emplace(name, heads ? ordered(matrix, *heads) : withOne(matrix)).first;
    matrix.data = known->second.data();
    if (lacksOne(name)) matrix.format = compute::WeightFormat::F32;
    return matrix;
  }

  void requireWhole() const override { m_source->requireWhole(); }
  void requireUnchanged() const override { m_source->requireUnchanged(); }
  std::vector<StoredTensor> stored() const override { return m_stored; }
  std::string fingerprint() const override { return m_source->fingerprint(); }
  std::string name() const override { return m_source->name(); }

 private:
  compute::HostMatrix cut(const std::string& name, std::int64_t rows, std::int64_t columns) const {
    const auto part = m_parts.find(name);
    if (part == m_parts.end()) return m_source->get(name, rows, columns);
    const Part& place = part->second;
    // A bias is a vector with one element per row.
    const bool isVector = rows == 1;
    compute::HostMatrix matrix = isVector ? m_source->get(place.whole, 1, place.wholeRows)
                                          : m_source->get(place.whole, place.wholeRows, columns);
    matrix.data =
        isVector ? matrix.data + compute::bytesOf(matrix.format, place.firstRow) : matrix.row(place.firstRow);
    matrix.rows = rows;
    matrix.columns = columns;
    return matrix;
  }

  bool lacksOne(std::string_view name) const { return m_normsLackOne && name.ends_with("norm.weight"); }

  std::vector<std::byte> ordered(const compute::HostMatrix& matrix, std::int32_t heads) const {
    const bool isVector = matrix.rows == 1;
    return m_arrangement.ordered(matrix.data,
                                 isVector ? compute::bytesOf(matrix.format, 1) : matrix.rowBytes(), heads);
  }

  static std::vector<std::byte> withOne(const compute::HostMatrix& matrix) {
    std::vector<float> values(static_cast<std::size_t>(matrix.rows * matrix.columns));
    compute::widen(matrix.format, matrix.data, matrix.rows * matrix.columns, values.data());
    for (float& value : values) value += 1;
    std::vector<std::byte> out(values.size() * sizeof(float));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
  }

  std::unique_ptr<WeightSource> m_source;
  Arrangement m_arrangement;
  bool m_normsLackOne = false;
  std::map<std::string, Part> m_parts;  ///< by the name of the part
  std::vector<StoredTensor> m_stored;
  mutable std::map<std::string, std::vector<std::byte>> m_changed;
};

}  // namespace

std::unique_ptr<WeightSource> arrange(std::unique_ptr<WeightSource> source, const ModelConfig& config,
                                      bool normsLackOne) {
  return std::make_unique<ArrangedWeights>(std::move(source), config, normsLackOne);
}

Adapter arrange(const Adapter& adapter, const ModelConfig& config) {
  const Arrangement arrangement(config);
  std::map<std::string, LowRankPair> pairs;
  for (const auto& [name, pair] : adapter.pairs()) {
    bool isWhole = false;
    for (const auto& [whole, parts] : arrangement.wholes()) {
      // A matrix of another height keeps its name. The model has no such matrix, so the decoder refuses it.
      if (!name.ends_with(whole) || pair.rows != arrangement.rowsOf(whole)) continue;
      isWhole = true;
      const std::string before = name.substr(0, name.size() - whole.size());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::int64_t first = parts[i].second;
        const std::int64_t end = i + 1 < parts.size() ? parts[i + 1].second : pair.rows;
        LowRankPair part{.down = pair.down, .up = {}, .rank = pair.rank, .rows = end - first};
        part.columns = pair.columns;
        part.up.assign(pair.up.begin() + first * pair.rank, pair.up.begin() + end * pair.rank);
        pairs.emplace(before + std::string(parts[i].first), std::move(part));
      }
    }
    if (!isWhole) pairs.emplace(name, pair);
  }
  for (auto& [name, pair] : pairs) {
    const std::optional<std::int32_t> heads = arrangement.rotatedHeads(name);
    if (!heads || pair.rows != std::int64_t{*heads} * config.headSize) continue;
    const std::vector<std::byte> rows =
        arrangement.ordered(std::as_bytes(std::span(pair.up)).data(),
                            static_cast<std::size_t>(pair.rank) * sizeof(float), *heads);
    std::memcpy(pair.up.data(), rows.data(), rows.size());
  }
  return adapter.withPairs(std::move(pairs));
}

}  // namespace spanscope::model
