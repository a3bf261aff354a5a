// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the model names of a query with the running model. Open this file when a model name is wrongly
// reported as different.
#pragma once

#include "engine/query/query.h"
#include "engine/workbench/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// Returns the name of a checkpoint (Checkpoint::name()) with its adapter. Without an adapter, returns the
/// name of the checkpoint.
std::string adaptedName(const std::string& model, const std::string& adapter);
/// Returns the name of the checkpoint, with its adapter, of a run with these settings. Empty if the bundled
/// checkpoint cannot be found.
std::string modelNameOf(const RunSettings& settings);

/// Whether a name in a query ("spnl/spanlet", "spanlet", or none) means the checkpoint with the name
/// `loaded`. An adapter does not matter.
bool meansModel(std::string_view wanted, std::string_view loaded);

/// Returns the models in generate nodes of the query that do not mean the checkpoint with the name `loaded`.
/// Each model occurs once, in prompt order. A name that is a parameter does not count.
std::vector<std::string> otherModels(const query::Node& query, std::string_view loaded);

/// Returns the list of names in RunSettings::standsFor.
std::vector<std::string> stoodFor(const RunSettings& settings);
/// Adds a name to RunSettings::standsFor, unless the list already has the name.
void standFor(RunSettings& settings, const std::string& wanted);

}  // namespace spanscope::workbench
