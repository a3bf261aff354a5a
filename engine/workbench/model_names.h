// SPDX-License-Identifier: GPL-3.0-or-later
// Which model a query names, and whether that is the one that runs it.
#pragma once

#include "engine/query/query.h"
#include "engine/workbench/settings.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// What a checkpoint is called: the name of its folder. "spanlet" for "models/spanlet/".
std::string modelName(const std::filesystem::path& directory);
/// Of the checkpoint that a run with these settings uses; empty where the bundled one cannot be found.
std::string modelNameOf(const RunSettings& settings);

/// Whether a name in a query ("spnl/spanlet", "spanlet", none) means the checkpoint of that name.
bool meansModel(std::string_view wanted, std::string_view loaded);

/// The models that generates of the query name and that are another than the checkpoint of that name, each
/// once, in prompt order. A name that is a parameter is none.
std::vector<std::string> otherModels(const query::Node& query, std::string_view loaded);

/// The names in RunSettings::standsFor.
std::vector<std::string> stoodFor(const RunSettings& settings);
/// Adds a name to RunSettings::standsFor, once.
void standFor(RunSettings& settings, const std::string& wanted);

}  // namespace spanscope::workbench
