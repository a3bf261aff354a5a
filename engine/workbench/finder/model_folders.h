// SPDX-License-Identifier: GPL-3.0-or-later
// The folders in which programs on this machine keep models.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::workbench {

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

}  // namespace spanscope::workbench
