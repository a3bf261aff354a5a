// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out which models a query names, and whether they are the model that runs it.
#pragma once

#include "engine/query/query.h"
#include "engine/workbench/settings.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

/// The name of a checkpoint (Checkpoint::name()) that is opened with an adapter; its own without one.
std::string adaptedName(const std::string& model, const std::string& adapter);
/// The name of the checkpoint, with its adapter, that a run with these settings uses; empty if the bundled
/// one cannot be found.
std::string modelNameOf(const RunSettings& settings);

/// Whether a name in a query ("spnl/spanlet", "spanlet", or none) means the checkpoint with the name
/// `loaded`. It does with an adapter, too.
bool meansModel(std::string_view wanted, std::string_view loaded);

/// The models that generates of the query name, if they do not mean the checkpoint with the name `loaded`.
/// Each occurs once, in prompt order. A name that is a parameter does not count.
std::vector<std::string> otherModels(const query::Node& query, std::string_view loaded);

/// The list of names in RunSettings::standsFor.
std::vector<std::string> stoodFor(const RunSettings& settings);
/// Adds a name to RunSettings::standsFor, unless it is there already.
void standFor(RunSettings& settings, const std::string& wanted);

}  // namespace spanscope::workbench
