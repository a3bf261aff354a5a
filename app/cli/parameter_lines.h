// SPDX-License-Identifier: GPL-3.0-or-later
// The parameters of a query, as text and JSON.
#pragma once

#include "engine/query/parameters.h"

#include <nlohmann/json_fwd.hpp>

#include <map>
#include <string>
#include <vector>

namespace spanscope::cli {

/// One line for each parameter: expected values, default, places in the query, and description.
std::string parameterLines(const std::vector<query::ParameterInfo>& parameters);

/// A table of the used values and the sources of these values; empty without parameters.
std::string parameterTable(const std::vector<query::ParameterInfo>& parameters,
                           const std::map<std::string, std::string>& values);

/// The same as a JSON list.
nlohmann::ordered_json parametersJson(const std::vector<query::ParameterInfo>& parameters,
                                      const std::map<std::string, std::string>& values);

}  // namespace spanscope::cli
