// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/finder/model_folders.h"

#include <cstdlib>

namespace spanscope::workbench {

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
  // What the service pulls lies in the home of its own user.
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
