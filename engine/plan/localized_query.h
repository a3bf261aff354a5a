// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"

#include <map>
#include <optional>
#include <vector>

namespace spanscope::plan {

struct LocalizedQuery {
  std::optional<query::Node> query;  ///< nothing if there are problems
  std::vector<Error> problems;       ///< in the form of a plan's problems
  /// For each place in `query` the one in the given query that it came from. Several may come from one.
  std::map<NodePath, NodePath> origins;
};

/// Writes out attention locality in the query, for servers that do not know it. Repeats and maps are written
/// out too; the rest stays as it is. Absent settings get their defaults.
LocalizedQuery localizedQuery(const query::Node& query, const LocalityOptions& locality);

}  // namespace spanscope::plan
