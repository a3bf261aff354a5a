// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the places of models on this machine, without reading the models. Open this file to add a program
// that keeps models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
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

}  // namespace spanscope::workbench
