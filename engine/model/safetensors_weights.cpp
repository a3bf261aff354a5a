// SPDX-License-Identifier: GPL-3.0-or-later
// A Hugging Face model directory as a source of weights.
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/weight_samples.h"
#include "engine/model/weights.h"

#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace spanscope::model {

namespace {

using checkpoint::kSafetensorsFile;
using checkpoint::kSafetensorsIndex;

class SafetensorsWeights final : public WeightSource {
 public:
  explicit SafetensorsWeights(std::filesystem::path directory) : m_directory(std::move(directory)) {}

  /// The tensors of one file: all, or those of `wanted`, which must be there.
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

/// A shard has to lie in the directory itself: the index comes from outside, and must not name other files.
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
