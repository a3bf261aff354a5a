// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/checkpoint.h"

#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/mapped_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <system_error>

namespace spanscope::checkpoint {
namespace {

constexpr const char* kModel =
    "a Hugging Face model directory (config.json, *.safetensors, a tokenizer and its tokenizer_config.json) "
    "or a GGUF file";

/// A directory that people take for a model.
struct Kind {
  const char* file;  ///< only such a directory has this file
  const char* found;
  const char* expected;
};

constexpr std::array kKinds = {
    Kind{"adapter_config.json", /*id:folder-is-adapter*/ "an adapter without its model",
         "the folder of the model. Choose the adapter in the setting Adapter"},
    Kind{"snapshots", /*id:folder-is-cache*/ "a folder of Hugging Face's cache", "a folder inside snapshots"},
    Kind{"model_index.json", "a model that generates images (diffusers)", "a model that generates text"},
    Kind{"params.json", "a checkpoint in the format of the model's author",
         "the same model in Hugging Face's format"},
    Kind{"mlc-chat-config.json", "a checkpoint of MLC", "the same model in Hugging Face's format"},
    Kind{"genai_config.json", "a checkpoint of ONNX Runtime", "the same model in Hugging Face's format"}};

}  // namespace

std::string Checkpoint::name() const {
  // "spanlet/" has an empty last component.
  const std::filesystem::path own = m_path.has_filename() ? m_path : m_path.parent_path();
  const std::string folder = own.parent_path().parent_path().filename().string();
  if (own.parent_path().filename() == "snapshots" && folder.starts_with("models--"))
    return folder.substr(folder.rfind("--") + 2);
  constexpr std::string_view kDigest = "sha256-";
  constexpr std::size_t kDigits = 8;
  const std::string name = own.filename().string();
  if (name.starts_with(kDigest) && name.size() > kDigest.size() + kDigits)
    return name.substr(0, kDigest.size() + kDigits);
  return (own.extension() == ".gguf" ? own.stem() : own.filename()).string();
}

void Checkpoint::require() const {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(m_path, error);
  if (std::filesystem::is_directory(status)) return;
  if (isGguf(m_path)) return;
  if (std::filesystem::is_regular_file(status)) {
    // The error names an empty file or a pointer as such.
    const MappedFile file(m_path);
  }
  if (std::filesystem::exists(status))
    throw Failure({m_path.string(), "", /*id:file-another-kind*/ "This file is not a model.", kModel});
  const bool isMissing = status.type() == std::filesystem::file_type::not_found;
  throw Failure({m_path.string(), "",
                 isMissing ? /*id:nothing-at-path*/ "There is nothing at this path."
                           : "This directory cannot be read (" + error.message() + ").",
                 kModel});
}

void Checkpoint::requireModel() const {
  require();
  if (find("config.json") || gguf()) return;
  for (const Kind& kind : kKinds) {
    if (find(kind.file)) throw Failure({m_path.string(), "", kind.found, kind.expected});
  }
  throw Failure({m_path.string(), "",
                 /*id:directory-without-model*/ "This directory has neither config.json nor a GGUF file.",
                 "a Hugging Face model directory, or a directory with a GGUF file"});
}

bool Checkpoint::holdsModel() const {
  try {
    requireModel();
    return true;
  } catch (const Failure&) {
    return false;
  }
}

std::string Checkpoint::otherWeights() const {
  struct Ending {
    std::string_view ending;
    std::string_view weights;
  };
  constexpr std::array kEndings = {Ending{".safetensors", "safetensors files without an index"},
                                   Ending{".bin", "weights of PyTorch"},
                                   Ending{".pth", "weights of PyTorch"},
                                   Ending{".pt", "weights of PyTorch"},
                                   Ending{".h5", "weights of TensorFlow"},
                                   Ending{".msgpack", "weights of Flax"},
                                   Ending{".onnx", "weights of ONNX"},
                                   Ending{".npz", "weights of MLX"}};
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(m_path, error), end; !error && entry != end;
       entry.increment(error))
    names.push_back(entry->path().filename().string());
  std::sort(names.begin(), names.end());
  for (const Ending& kind : kEndings) {
    for (const std::string& name : names) {
      if (name.ends_with(kind.ending) && name != "training_args.bin")
        return std::string(kind.weights) + " (" + name + ")";
    }
  }
  return "no weights";
}

std::optional<std::filesystem::path> Checkpoint::find(const std::string& name) const {
  std::error_code error;
  std::filesystem::path path = m_path / name;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

bool Checkpoint::hasSafetensors() const {
  return find(kSafetensorsFile).has_value() || find(kSafetensorsIndex).has_value();
}

std::optional<std::filesystem::path> Checkpoint::gguf() const {
  if (hasSafetensors()) return std::nullopt;
  return anyGguf();
}

std::optional<std::filesystem::path> Checkpoint::anyGguf() const {
  if (isGguf(m_path)) return m_path;
  const std::vector<std::filesystem::path> found = ggufFiles(m_path);
  if (found.empty()) return std::nullopt;
  if (found.size() > 1) {
    throw Failure({m_path.string(), "", found[0].filename().string() + " and " + found[1].filename().string(),
                   "one GGUF model in the directory"});
  }
  return found.front();
}

std::vector<std::filesystem::path> Checkpoint::files() const {
  constexpr std::array kEndings = {".json", ".safetensors", ".model", ".gguf", ".jinja"};
  std::error_code error;
  if (std::filesystem::is_regular_file(m_path, error)) return {m_path};
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator entry(m_path, error), end; !error && entry != end;
       entry.increment(error)) {
    if (std::ranges::find(kEndings, entry->path().extension()) != kEndings.end())
      files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace spanscope::checkpoint
