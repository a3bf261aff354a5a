// SPDX-License-Identifier: GPL-3.0-or-later
// Fills in parameters of a query that is written for others, who may fill in the rest.
#pragma once

#include "engine/query/parameters.h"
#include "engine/query/query.h"

#include <map>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// The query with every valid value filled in. A number without a valid value keeps its parameter; the other
/// parameters still get their values.
query::Node resolveWhatFits(const query::Node& query,
                            const std::vector<query::ParameterDeclaration>& declarations,
                            const std::map<std::string, std::string>& values);

}  // namespace spanscope::workbench
