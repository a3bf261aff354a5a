// SPDX-License-Identifier: GPL-3.0-or-later
// Finds a model of this machine by the name that a server or a log uses.
#pragma once

#include "engine/workbench/finder/model_finder.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// Returns the folders of this user: those of the tools, the recent models, and the bundled models.
ModelFolders foldersOfUser();

/// Returns the path of the model that a name means. Organization, punctuation, capitals, file type and weight
/// format do not matter: "llama3.2:1b" means meta-llama/Llama-3.2-1B-Instruct-Q4_K_M.gguf. Nothing: no model
/// has this name.
std::optional<std::filesystem::path> modelNamed(const std::vector<ModelPlace>& places, std::string_view name);

}  // namespace spanscope::workbench
