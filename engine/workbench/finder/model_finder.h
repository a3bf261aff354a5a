// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the places of models on this machine, without reading the models. Finds the models there, with the
// facts of their headers and their tokenizer. Weights are read on request only. Open this file to add a program that keeps
// models, or to show another fact of a model.
#pragma once

#include "engine/compute/backends.h"
#include "engine/model/config.h"
#include "engine/model/weights.h"
#include "engine/run/run_options.h"
#include "engine/workbench/model_problem.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

// The folders in which programs on this machine keep models.

/// Reads a variable of the environment by its name. Nothing: the variable is not set, or empty.
using VariableReader = std::function<std::optional<std::string>(const char* name)>;
/// Returns the reader of this process.
VariableReader processEnvironment();

/// Any of these folders may be missing. Spanscope never writes to them.
struct ModelFolders {
  std::vector<std::filesystem::path> recent;       ///< models themselves, the last used first
  std::filesystem::path bundled;                   ///< has one folder per model; empty: none
  std::vector<std::filesystem::path> huggingFace;  ///< have models--ORG--NAME
  std::vector<std::filesystem::path> ollama;       ///< have manifests and blobs
  std::vector<std::filesystem::path> lmStudio;     ///< have PUBLISHER/MODEL
  std::vector<std::filesystem::path> llamaCpp;     ///< have GGUF files
};

/// Returns the folders of the tools, by their variables: HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME,
/// OLLAMA_MODELS, LLAMA_CACHE and HOME. `recent` and `bundled` stay empty.
ModelFolders foldersOfTools(const VariableReader& environment);

/// The program that keeps a model.
enum class ModelKeeper : std::uint8_t { Recent, Bundled, HuggingFace, Ollama, LmStudio, LlamaCpp };
/// For the user: "recent", "bundled", "Hugging Face", "Ollama", "LM Studio", "llama.cpp".
const char* keeperName(ModelKeeper keeper);
/// In files: "recent", "bundled", "hugging_face", "ollama", "lm_studio", "llama_cpp".
const char* keeperKey(ModelKeeper keeper);

struct ModelPlace {
  ModelKeeper keeper = ModelKeeper::Recent;
  std::string name;            ///< the name in its program: "Qwen/Qwen3-0.6B", "llama3.2:1b"
  std::filesystem::path path;  ///< a model directory or a GGUF file; empty: there is none to open
  std::string problem;         ///< the reason why there is no path; empty: there is a path
};

/// Lists the models in the folders: by program in the order of ModelKeeper, then by name. Recent models keep
/// their order. Never throws for the contents of folders. A model with several paths is listed once, at its
/// first place. Unreadable entries are left out: broken links, folders without permission, files of other
/// kinds. Circular links end. After kMostListedModels, a last entry without a path reports that there are
/// more models. At most kMostFolderEntries entries of a folder are read.
std::vector<ModelPlace> modelPlaces(const ModelFolders& folders, const std::stop_token& stop = {});

inline constexpr std::size_t kMostListedModels = 1000;
inline constexpr std::size_t kMostFolderEntries = 20'000;

/// The facts in the headers of a model, as far as they can be read.
struct ModelHeader {
  std::string family;           ///< "LlamaForCausalLM", or "llama" for a GGUF file; empty: unknown
  std::int64_t parameters = 0;  ///< elements of all tensors; 0: unknown
  /// Types of tensors with the number of their tensors. The type with the most elements comes first: {"Q4_K",
  /// 169}.
  std::vector<std::pair<std::string, std::int64_t>> types;
  std::int64_t context = 0;  ///< max number of positions; 0: unknown
  std::string chatTemplate;  ///< name of its known chat template; empty: unknown
  /// Why no chat template is known.
  /// Empty: a template is known.
  std::string templateProblem;
  std::uint64_t bytes = 0;  ///< of its files of weights
  std::string problem;      ///< the reason why the model cannot run, as a sentence; empty: the model can run

  // Only for a model that can run.
  std::optional<model::ModelConfig> config;
  model::WeightAmounts weights;
};

/// Reads a model directory or a GGUF file. Never throws for its contents: `problem` has the reason.
ModelHeader readModelHeader(const std::filesystem::path& path, CheckDepth depth = CheckDepth::Headers);

struct FoundModel {
  ModelPlace place;
  ModelHeader header;
  /// Bytes for weights, pool and work on the requested device; 0: unknown.
  std::uint64_t memory = 0;

  bool canRun() const { return header.problem.empty(); }
  /// Whether spans are hits at other positions. True for every model that can run here, because the scores
  /// depend only on differences of positions. Nothing for other models.
  std::optional<bool> movesSpans() const { return canRun() ? std::optional(true) : std::nullopt; }
};

/// Lists models. The facts of a model are kept while path, size and time of its files stay the same. Any
/// thread may call any function.
class ModelFinder {
 public:
  explicit ModelFinder(CheckDepth depth = CheckDepth::Headers) : m_depth(depth) {}

  /// `pool` and `device` are for the estimate of memory. Null: no estimate.
  std::vector<FoundModel> find(const ModelFolders& folders, const run::SessionConfig* pool,
                               const compute::BackendKind* device, const std::stop_token& stop = {});

  /// Returns the number of models that were read since the finder was made, without kept ones.
  std::size_t headersRead() const;

 private:
  ModelHeader headerOf(const std::filesystem::path& path);

  const CheckDepth m_depth;
  mutable std::mutex m_mutex;
  std::map<std::string, ModelHeader> m_headers;
  std::size_t m_read = 0;
};

}  // namespace spanscope::workbench
