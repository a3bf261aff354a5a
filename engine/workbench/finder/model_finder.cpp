// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/finder/model_finder.h"

#include "engine/base/error.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/architectures/other_architectures.h"
#include "engine/model/tensor_list.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/model_bundle.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <exception>
#include <memory>
#include <set>
#include <system_error>

namespace spanscope::workbench {
namespace {

using Path = std::filesystem::path;

/// Returns the sentence of a failure. The sentence names the file without its folders.
std::string sentenceOf(const Failure& failure) {
  Error error = failure.error();
  error.file = Path(error.file).filename().string();
  return error.message();
}

/// Counts tensors by type.
class TypeCounts {
 public:
  void add(const std::string& type, std::int64_t elements) {
    m_counts[type].elements += elements;
    ++m_counts[type].tensors;
  }
  void report(ModelHeader& header) const {
    std::vector<std::pair<std::string, Count>> counts(m_counts.begin(), m_counts.end());
    std::stable_sort(counts.begin(), counts.end(),
                     [](const auto& a, const auto& b) { return a.second.elements > b.second.elements; });
    for (const auto& [type, count] : counts) {
      header.types.emplace_back(type, count.tensors);
      header.parameters += count.elements;
    }
  }

 private:
  struct Count {
    std::int64_t elements = 0;
    std::int64_t tensors = 0;
  };
  std::map<std::string, Count> m_counts;
};

std::uint64_t sizeOf(const Path& file) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  return error ? 0 : size;
}

/// Sets the reason why this model cannot run. The reason is more exact than "unknown name".
void tellWhyNot(std::optional<std::string> reason, ModelHeader& header) {
  if (!reason || !header.problem.empty()) return;
  reason->front() = static_cast<char>(std::toupper(static_cast<unsigned char>(reason->front())));
  header.problem = *std::move(reason);
}

/// Throws Failure if the weights do not fit the configuration.
void readWeights(const Path& path, const model::ModelConfig& config, ModelHeader& header) {
  const std::unique_ptr<model::WeightSource> weights = model::openWeights(path, config);
  header.weights = model::weightAmounts(config, *weights);
  std::set<std::string> used;
  for (const model::NamedTensor& tensor : model::tensorsOf(config)) used.insert(tensor.name);
  model::refuseSurplus(config, *weights, used);
}

/// Reads the facts of the header, and then the reason if the model cannot run.
void readGgufModel(const Path& path, ModelHeader& header) {
  const checkpoint::GgufFile file(path);
  if (const std::string* family = file.metadata().text("general.architecture")) {
    header.family = *family;
    tellWhyNot(model::whyNotComputed(*family, file.metadata()), header);
    if (const std::int64_t* context = file.metadata().integer(*family + ".context_length"))
      header.context = *context;
  }
  TypeCounts types;
  std::set<std::string> files{path.string()};
  for (const auto& [name, located] : file.tensors()) {
    types.add(located.tensor.typeName(), located.tensor.elements());
    files.insert(located.file);
  }
  types.report(header);
  for (const std::string& part : files) header.bytes += sizeOf(part);
  const model::ModelConfig config = model::configOf(file);
  header.family = config.architecture;
  readWeights(path, config, header);
  header.config = config;
}

std::vector<Path> safetensorsOf(const Path& folder) {
  std::vector<Path> files = checkpoint::Checkpoint(folder).files();
  std::erase_if(files, [](const Path& file) {
    std::error_code ignored;
    return file.extension() != ".safetensors" || !std::filesystem::is_regular_file(file, ignored);
  });
  return files;
}

/// Reads the facts of config.json, also for a model that cannot run.
void readFamily(const Path& folder, ModelHeader& header) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20U;
  const std::string text =
      checkpoint::readFileBytes(folder / "config.json", kMostBytes, "the configuration of a model");
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  const auto names = json.find("architectures");
  const auto type = json.find("model_type");
  if (names != json.end() && names->is_array() && !names->empty() && names->front().is_string())
    header.family = names->front().get<std::string>();
  else if (type != json.end() && type->is_string())
    header.family = type->get<std::string>();
  const checkpoint::JsonPlace place(json, "", folder.string());
  tellWhyNot(model::whyNotComputed(header.family, place), header);
  if (type != json.end() && type->is_string())
    tellWhyNot(model::whyNotComputed(type->get<std::string>(), place), header);
  const auto context = json.find("max_position_embeddings");
  if (context != json.end() && context->is_number_integer())
    header.context = std::max<std::int64_t>(0, context->get<std::int64_t>());
}

void readSafetensorsModel(const Path& folder, ModelHeader& header) {
  readFamily(folder, header);
  TypeCounts types;
  for (const Path& path : safetensorsOf(folder)) {
    header.bytes += sizeOf(path);
    const checkpoint::MappedFile file(path);
    file.read([&](std::span<const std::byte> bytes) {
      for (const auto& [name, tensor] : checkpoint::parseSafetensors(bytes, path.string()).tensors) {
        std::int64_t elements = 1;
        for (const std::uint64_t size : tensor.shape) elements *= static_cast<std::int64_t>(size);
        types.add(tensor.typeName, elements);
      }
      return true;
    });
  }
  types.report(header);
  const model::ModelConfig config = model::readConfig(folder);
  readWeights(folder, config, header);
  header.config = config;
}

void readTemplate(const Path& path, ModelHeader& header) {
  try {
    header.chatTemplate = text::findChatTemplate(path).name;
  } catch (const Failure&) {
    // The user may choose another template.
  }
}

/// Returns path, size and time of every file that a header depends on.
std::string stampOf(const Path& path) {
  std::string stamp = path.string();
  for (const Path& file : checkpoint::Checkpoint(path).files()) {
    std::error_code missing;
    const auto time = std::filesystem::last_write_time(file, missing);
    if (missing) continue;
    stamp += '\n' + file.filename().string() + ' ' + std::to_string(sizeOf(file)) + ' ' +
             std::to_string(time.time_since_epoch().count());
  }
  return stamp;
}

}  // namespace

ModelHeader readModelHeader(const std::filesystem::path& path) {
  ModelHeader header;
  try {
    checkpoint::Checkpoint(path).require();
    readTemplate(path, header);
    if (const std::optional<Path> gguf = checkpoint::Checkpoint(path).gguf())
      readGgufModel(*gguf, header);
    else
      readSafetensorsModel(path, header);
    header.context = header.config->maxPositions;
    // A model without a known tokenizer cannot run. The tokenizer must be read to decide whether the
    // tokenizer is known.
    text::loadTokenizer(path);
    header.problem.clear();
  } catch (const Failure& failure) {
    header.config.reset();
    if (header.problem.empty()) header.problem = sentenceOf(failure);
  } catch (const std::exception& failure) {
    // No file in a user's folder may end the list.
    header.config.reset();
    header.problem = failure.what();
  }
  return header;
}

std::vector<FoundModel> ModelFinder::find(const ModelFolders& folders, const run::SessionConfig* pool,
                                          const compute::BackendKind* device, const std::stop_token& stop) {
  std::vector<FoundModel> models;
  for (ModelPlace& place : modelPlaces(folders, stop)) {
    if (stop.stop_requested()) break;
    FoundModel& found = models.emplace_back();
    if (place.path.empty())
      found.header.problem = place.problem;
    else
      found.header = headerOf(place.path);
    found.place = std::move(place);
    if (!found.header.config || device == nullptr) continue;
    std::optional<run::SessionConfig> session;
    if (pool != nullptr) session = suited(*pool, *device);
    found.memory = memoryNeed(*found.header.config, found.header.weights, session ? &*session : nullptr,
                              device->memory())
                       .total();
  }
  return models;
}

std::size_t ModelFinder::headersRead() const {
  const std::lock_guard lock(m_mutex);
  return m_read;
}

ModelHeader ModelFinder::headerOf(const std::filesystem::path& path) {
  const std::string stamp = stampOf(path);
  {
    const std::lock_guard lock(m_mutex);
    if (const auto known = m_headers.find(stamp); known != m_headers.end()) return known->second;
  }
  ModelHeader header = readModelHeader(path);
  const std::lock_guard lock(m_mutex);
  ++m_read;
  return m_headers.insert_or_assign(stamp, std::move(header)).first->second;
}

}  // namespace spanscope::workbench
