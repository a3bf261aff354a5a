// SPDX-License-Identifier: GPL-3.0-or-later
// What `spanq model list` writes.
#pragma once

#include "engine/workbench/finder/model_finder.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace spanscope::cli {

/// A table with a line for each model.
std::string modelTable(const std::vector<workbench::FoundModel>& models);
/// An object for each model; what is not known is null.
nlohmann::ordered_json modelListJson(const std::vector<workbench::FoundModel>& models);

}  // namespace spanscope::cli
