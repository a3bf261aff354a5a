// SPDX-License-Identifier: GPL-3.0-or-later
// Where models lie on this machine, without a look into them.
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

/// Reads a variable of the environment by its name; nothing: it is not set, or empty.
using VariableReader = std::function<std::optional<std::string>(const char* name)>;
/// That of this process.
VariableReader processEnvironment();

/// Any of these may be missing, and none is ever written to.
struct ModelFolders {
  std::vector<std::filesystem::path> recent;       ///< models themselves, the last used first
  std::filesystem::path bundled;                   ///< holds a folder a model; empty: none
  std::vector<std::filesystem::path> huggingFace;  ///< hold models--ORG--NAME
  std::vector<std::filesystem::path> ollama;       ///< hold manifests and blobs
  std::vector<std::filesystem::path> lmStudio;     ///< hold PUBLISHER/MODEL
  std::vector<std::filesystem::path> llamaCpp;     ///< hold GGUF files
};

/// Where the tools look themselves, by their variables: HF_HUB_CACHE, HF_HOME, XDG_CACHE_HOME, OLLAMA_MODELS,
/// LLAMA_CACHE and HOME. `recent` and `bundled` stay empty.
ModelFolders foldersOfTools(const VariableReader& environment);

/// Who keeps a model.
enum class ModelKeeper : std::uint8_t { Recent, Bundled, HuggingFace, Ollama, LmStudio, LlamaCpp };
/// For people: "recent", "bundled", "Hugging Face", "Ollama", "LM Studio", "llama.cpp".
const char* keeperName(ModelKeeper keeper);
/// In files: "recent", "bundled", "hugging_face", "ollama", "lm_studio", "llama_cpp".
const char* keeperKey(ModelKeeper keeper);

struct ModelPlace {
  ModelKeeper keeper = ModelKeeper::Recent;
  std::string name;            ///< as its keeper calls it: "Qwen/Qwen3-0.6B", "llama3.2:1b"
  std::filesystem::path path;  ///< a model directory or a GGUF file; empty: there is none to open
  std::string problem;         ///< why there is none; empty: there is
};

/// What stands in the folders: by keeper in the order of ModelKeeper, then by name, recent ones as they are
/// given. A model that is reached in several ways is listed once, where it comes first. What cannot be read
/// is left out: broken links, folders without permission, files of other kinds. Links that lead round in
/// circles end. After kMostListedModels a last entry without a path says that there are more; of a folder no
/// more than kMostFolderEntries entries are looked at. Never throws for what it finds.
std::vector<ModelPlace> modelPlaces(const ModelFolders& folders, const std::stop_token& stop = {});

inline constexpr std::size_t kMostListedModels = 1000;
inline constexpr std::size_t kMostFolderEntries = 20'000;

}  // namespace spanscope::workbench
