// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/finder/model_finder.h"

#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/architectures/other_architectures.h"
#include "engine/model/weight_reader.h"
#include "engine/text/chat_template.h"
#include "engine/text/program_templates.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/model_problem.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <memory>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

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
    std::ranges::stable_sort(
        counts, [](const auto& a, const auto& b) { return a.second.elements > b.second.elements; });
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

/// Reads the facts of the header, also for a model that cannot run.
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
}

void readTemplate(const Path& path, ModelHeader& header) {
  try {
    header.chatTemplate = text::findChatTemplate(path).name;
  } catch (const Failure& failure) {
    // The model runs if the user chooses another template.
    header.templateProblem = text::isMissingTemplate(failure.error())
                                 ? "there is no chat template"
                                 : problemSentence(failure.error().found, {});
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

ModelHeader readModelHeader(const std::filesystem::path& path, CheckDepth depth) {
  ModelHeader header;
  try {
    checkpoint::Checkpoint(path).requireModel();
    readTemplate(path, header);
    if (const std::optional<Path> gguf = checkpoint::Checkpoint(path).gguf())
      readGgufModel(*gguf, header);
    else
      readSafetensorsModel(path, header);
    InspectedModel inspected = inspectModel(path, depth);
    header.family = inspected.config.architecture;
    header.context = inspected.config.maxPositions;
    header.weights = std::move(inspected.weights);
    header.config = std::move(inspected.config);
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
  ModelHeader header = readModelHeader(path, m_depth);
  const std::lock_guard lock(m_mutex);
  ++m_read;
  return m_headers.insert_or_assign(stamp, std::move(header)).first->second;
}

namespace {

using Path = std::filesystem::path;

constexpr std::uintmax_t kMostManifestBytes = std::uintmax_t{1} << 20U;
/// The max depth of searched folders. No layout has models in deeper folders.
constexpr int kDeepest = 5;

bool isFolder(const Path& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

bool isFile(const Path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

/// Returns the entries of a folder by name. A folder that cannot be read has no entries.
std::vector<Path> entriesOf(const Path& folder) {
  std::vector<Path> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    entries.push_back(entry->path());
    if (entries.size() >= kMostFolderEntries) break;
  }
  std::ranges::sort(entries);
  return entries;
}

Path trueNameOf(const Path& path) {
  std::error_code error;
  const Path canonical = std::filesystem::canonical(path, error);
  return error ? path.lexically_normal() : canonical;
}

bool hasConfig(const Path& folder) {
  return isFile(folder / "config.json");
}

/// Returns the GGUF files of a folder that can be opened: first parts, without broken links.
std::vector<Path> filesOf(const Path& folder) {
  std::vector<Path> files = checkpoint::ggufFiles(folder);
  std::erase_if(files, [](const Path& file) { return !isFile(file); });
  return files;
}

std::string textOf(const Path& path) {
  return path.string();
}

class Lister {
 public:
  explicit Lister(const std::stop_token& stop) : m_stop(stop) {}

  std::vector<ModelPlace> take() {
    if (m_leftOut) {
      m_places.push_back({m_leftOut->keeper,
                          m_leftOut->name + " and perhaps other models",
                          {},
                          "the list shows only the first " + std::to_string(kMostListedModels) +
                              " models; open other models by their path"});
    }
    return std::move(m_places);
  }

  void listRecent(const std::vector<Path>& paths) {
    for (const Path& path : paths) {
      const Path name = path.has_filename() ? path.filename() : path.parent_path().filename();
      if (isFile(path) || hasConfig(path) || !filesOf(path).empty())
        add({ModelKeeper::Recent, textOf(name), path, {}});
    }
  }

  void listBundled(const Path& folder) {
    for (const Path& model : entriesOf(folder)) {
      if (hasConfig(model)) add({ModelKeeper::Bundled, textOf(model.filename()), model, {}});
    }
  }

  void listHuggingFace(const std::vector<Path>& hubs) {
    constexpr std::string_view kPrefix = "models--";
    for (const Path& hub : hubs) {
      for (const Path& folder : entriesOf(hub)) {
        const std::string name = textOf(folder.filename());
        if (!name.starts_with(kPrefix) || !isFolder(folder)) continue;
        std::string shown = name.substr(kPrefix.size());
        if (const std::size_t at = shown.find("--"); at != std::string::npos) shown.replace(at, 2, "/");
        if (const auto snapshot = snapshotOf(folder))
          addFolder(ModelKeeper::HuggingFace, shown, *snapshot, kDeepest);
      }
    }
    sortLast(ModelKeeper::HuggingFace);
  }

  void listOllama(const std::vector<Path>& roots) {
    for (const Path& root : roots) {
      // While Ollama moves to the newer layout, names of the older layout are in both layouts.
      std::set<std::string> names;
      for (const char* manifests : {"manifests", "manifest-v2"})
        listManifests(root / manifests, root / "blobs", {}, names);
    }
    sortLast(ModelKeeper::Ollama);
  }

  void listLmStudio(const std::vector<Path>& roots) {
    for (const Path& root : roots) {
      for (const Path& publisher : entriesOf(root)) {
        if (!isFolder(publisher)) continue;
        for (const Path& model : entriesOf(publisher)) {
          if (isFolder(model))
            addFolder(ModelKeeper::LmStudio, textOf(publisher.filename()) + "/" + textOf(model.filename()),
                      model, kDeepest);
        }
      }
    }
    sortLast(ModelKeeper::LmStudio);
  }

  void listLlamaCpp(const std::vector<Path>& folders) {
    for (const Path& folder : folders) {
      for (const Path& file : filesOf(folder)) add({ModelKeeper::LlamaCpp, textOf(file.stem()), file, {}});
    }
    sortLast(ModelKeeper::LlamaCpp);
  }

 private:
  bool isFull() const { return m_leftOut.has_value() || m_stop.stop_requested(); }

  void add(ModelPlace place) {
    if (m_stop.stop_requested() || m_leftOut) return;
    if (!place.path.empty() && !m_known.insert(trueNameOf(place.path)).second) return;
    if (m_places.size() == kMostListedModels) {
      m_leftOut = std::move(place);
      return;
    }
    m_places.push_back(std::move(place));
  }

  /// Adds the models of a folder. A folder with a configuration or with safetensors is one model. Each of its GGUF files is one
  /// model too.
  void addFolder(ModelKeeper keeper, const std::string& name, const Path& folder, int depth) {
    if (isFull() || !m_visited.insert(trueNameOf(folder)).second) return;
    const std::vector<Path> files = filesOf(folder);
    const bool hasSafetensors = checkpoint::Checkpoint(folder).hasSafetensors();
    // A configuration with only GGUF files beside it belongs to the model from which these files were made.
    // Weights without a configuration are listed with this problem.
    if (hasSafetensors || (hasConfig(folder) && files.empty())) add({keeper, name, folder, {}});
    for (const Path& file : files) {
      const bool isOnly = files.size() == 1 && depth == kDeepest;
      add({keeper, isOnly ? name : name + ", " + textOf(file.filename()), file, {}});
    }
    if (depth <= 1) return;
    for (const Path& entry : entriesOf(folder)) {
      if (isFolder(entry) && !textOf(entry.filename()).starts_with("."))
        addFolder(keeper, name, entry, depth - 1);
    }
  }

  /// Returns the snapshot that refs/main names, or the newest snapshot.
  static std::optional<Path> snapshotOf(const Path& folder) {
    try {
      constexpr std::uintmax_t kMostCommitBytes = 256;
      std::string commit =
          checkpoint::readFileBytes(folder / "refs" / "main", kMostCommitBytes, "the name of a commit");
      while (!commit.empty() && (commit.back() == '\n' || commit.back() == ' ')) commit.pop_back();
      const bool isName = !commit.empty() && commit.find('/') == std::string::npos && commit != "..";
      const Path named = folder / "snapshots" / commit;
      if (isName && isFolder(named)) return named;
    } catch (const Failure&) {
      // A model that was downloaded by its commit has no such file.
    }
    std::optional<std::pair<std::filesystem::file_time_type, Path>> newest;
    for (const Path& snapshot : entriesOf(folder / "snapshots")) {
      std::error_code error;
      const auto time = std::filesystem::last_write_time(snapshot, error);
      if (error || !isFolder(snapshot)) continue;
      if (!newest || time > newest->first) newest = {time, snapshot};
    }
    return newest ? std::optional(newest->second) : std::nullopt;
  }

  /// Lists the manifests below `folder`, which has paths HOST/NAMESPACE/MODEL/TAG.
  void listManifests(const Path& folder, const Path& blobs, std::vector<std::string> names,
                     std::set<std::string>& known) {
    constexpr std::size_t kParts = 4;
    for (const Path& entry : entriesOf(folder)) {
      if (isFull()) return;
      std::vector<std::string> own = names;
      own.push_back(textOf(entry.filename()));
      if (own.size() < kParts) {
        if (isFolder(entry)) listManifests(entry, blobs, std::move(own), known);
      } else if (isFile(entry)) {
        const std::string name = ollamaName(own);
        if (known.insert(name).second) addManifest(name, entry, blobs);
      }
    }
  }

  /// "llama3.2:1b", "someone/model:tag", "host/someone/model:tag", as the tool writes them.
  static std::string ollamaName(const std::vector<std::string>& parts) {
    const std::string model = parts[2] + ":" + parts[3];
    const bool isUsualHost = parts[0] == "registry.ollama.ai" || parts[0] == "ollama.com";
    if (isUsualHost && parts[1] == "library") return model;
    return (isUsualHost ? "" : parts[0] + "/") + parts[1] + "/" + model;
  }

  void addManifest(const std::string& name, const Path& manifest, const Path& blobs) {
    const auto refuse = [&](std::string problem) {
      add({ModelKeeper::Ollama, name, {}, std::move(problem)});
    };
    std::string text;
    try {
      text = checkpoint::readFileBytes(manifest, kMostManifestBytes, "a manifest of Ollama");
    } catch (const Failure&) {
      return;
    }
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("layers") || !json["layers"].is_array()) return;
    bool hasTensors = false;
    for (const nlohmann::json& layer : json["layers"]) {
      if (!layer.is_object()) continue;
      const std::string type = textIn(layer, "mediaType");
      hasTensors = hasTensors || type == "application/vnd.ollama.image.tensor";
      if (type != "application/vnd.ollama.image.model") continue;
      const std::optional<Path> blob = blobOf(textIn(layer, "digest"), blobs);
      if (!blob || !isFile(*blob))
        return refuse("the file of the weights is missing; get the file with ollama pull");
      return add({ModelKeeper::Ollama, name, *blob, {}});
    }
    if (hasTensors)
      return refuse("the weights are stored as single tensors for Ollama's MLX runner, not in a GGUF file");
    refuse("the manifest names no weights on this machine");
  }

  static std::string textIn(const nlohmann::json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
  }

  /// The file of "sha256:<64 hexadecimal digits>"; nothing for another text.
  static std::optional<Path> blobOf(const std::string& digest, const Path& blobs) {
    constexpr std::string_view kPrefix = "sha256:";
    constexpr std::size_t kDigits = 64;
    if (!digest.starts_with(kPrefix)) return std::nullopt;
    const std::string digits = digest.substr(kPrefix.size());
    if (digits.size() != kDigits || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
      return std::nullopt;
    return blobs / ("sha256-" + digits);
  }

  void sortLast(ModelKeeper keeper) {
    const auto first = std::ranges::find(m_places, keeper, &ModelPlace::keeper);
    std::stable_sort(first, m_places.end(),
                     [](const ModelPlace& a, const ModelPlace& b) { return a.name < b.name; });
  }

  std::stop_token m_stop;
  std::vector<ModelPlace> m_places;
  std::optional<ModelPlace> m_leftOut;  ///< the first model beyond the limit
  std::set<Path> m_known;               ///< true names of what is listed
  std::set<Path> m_visited;             ///< true names of folders
};

struct KeeperNames {
  const char* shown;
  const char* key;
};

KeeperNames namesOf(ModelKeeper keeper) {
  switch (keeper) {
    case ModelKeeper::Recent:
      return {"recent", "recent"};
    case ModelKeeper::Bundled:
      return {"bundled", "bundled"};
    case ModelKeeper::HuggingFace:
      return {"Hugging Face", "hugging_face"};
    case ModelKeeper::Ollama:
      return {"Ollama", "ollama"};
    case ModelKeeper::LmStudio:
      return {"LM Studio", "lm_studio"};
    case ModelKeeper::LlamaCpp:
      return {"llama.cpp", "llama_cpp"};
  }
  return {"", ""};
}

}  // namespace

const char* keeperName(ModelKeeper keeper) {
  return namesOf(keeper).shown;
}

const char* keeperKey(ModelKeeper keeper) {
  return namesOf(keeper).key;
}

std::vector<ModelPlace> modelPlaces(const ModelFolders& folders, const std::stop_token& stop) {
  Lister lister(stop);
  lister.listRecent(folders.recent);
  if (!folders.bundled.empty()) lister.listBundled(folders.bundled);
  lister.listHuggingFace(folders.huggingFace);
  lister.listOllama(folders.ollama);
  lister.listLmStudio(folders.lmStudio);
  lister.listLlamaCpp(folders.llamaCpp);
  return lister.take();
}

VariableReader processEnvironment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') return std::nullopt;
    return value;
  };
}

ModelFolders foldersOfTools(const VariableReader& environment) {
  using Path = std::filesystem::path;
  const auto folder = [&environment](const char* name) -> std::optional<Path> {
    const std::optional<std::string> value = environment(name);
    if (!value || value->empty()) return std::nullopt;
    return Path(*value);
  };
  ModelFolders folders;
  const std::optional<Path> home = folder("HOME");
  std::optional<Path> caches = folder("XDG_CACHE_HOME");
  if (!caches && home) caches = *home / ".cache";

  if (const auto hub = folder("HF_HUB_CACHE")) {
    folders.huggingFace = {*hub};
  } else if (const auto own = folder("HF_HOME")) {
    folders.huggingFace = {*own / "hub"};
  } else if (caches) {
    folders.huggingFace = {*caches / "huggingface" / "hub"};
  }

  if (const auto models = folder("OLLAMA_MODELS")) {
    folders.ollama = {*models};
  } else if (home) {
    folders.ollama = {*home / ".ollama" / "models"};
  }
  // The models of the Ollama service are in the home folder of its own user.
  folders.ollama.emplace_back("/usr/share/ollama/.ollama/models");

  if (home) {
    folders.lmStudio.push_back(*home / ".lmstudio" / "models");
    folders.lmStudio.push_back(*home / ".cache" / "lm-studio" / "models");
  }

  if (const auto cache = folder("LLAMA_CACHE")) {
    folders.llamaCpp = {*cache};
  } else if (caches) {
    folders.llamaCpp = {*caches / "llama.cpp"};
  }
  return folders;
}

}  // namespace spanscope::workbench
