// SPDX-License-Identifier: GPL-3.0-or-later
// Parameters of a query that is written for others: they may fill in what is left.
#pragma once

#include "engine/query/parameters.h"
#include "engine/query/query.h"

#include <map>
#include <string>
#include <vector>

namespace spanscope::workbench {

/// The query with the values put in wherever there is one that fits: a number without one keeps its
/// parameter, and does not keep the others from their values.
query::Node resolveWhatFits(const query::Node& query,
                            const std::vector<query::ParameterDeclaration>& declarations,
                            const std::map<std::string, std::string>& values);

}  // namespace spanscope::workbench
