// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"

#include <optional>
#include <vector>

namespace spanscope::plan {

struct LocalizedQuery {
  std::optional<query::Node> query;  ///< nothing if there are problems
  std::vector<Error> problems;       ///< as those of a plan
};

/// The query with attention locality written out, for servers that do not know it. Its repeats and maps are
/// written out as well; the rest is left as it is. Settings that were left out have their defaults.
LocalizedQuery localizedQuery(const query::Node& query, const LocalityOptions& locality);

}  // namespace spanscope::plan
