// SPDX-License-Identifier: GPL-3.0-or-later
// From a query to its plan.
#pragma once

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::plan {

/// How large a query may become when its repeats, maps, zips and closures are written out.
struct PlanLimits {
  std::size_t nodes = 1'000'000;                    ///< nodes of all prompts together
  std::size_t textBytes = std::size_t{256} << 20U;  ///< bytes of text in all prompts together
  std::size_t depth = 512;                          ///< nesting of the query as given
};

struct PlanOptions {
  std::uint64_t seed = 0;
  /// Plus distribution: a generate directly under a plus in another generate's input becomes a closure there.
  bool distribute = true;
  /// How the output of an inner generate reaches the prompt where it is no closure: Anew or Reused.
  OutputForm outputForm = OutputForm::Anew;
  /// For generates that give none, or null: the reference has no other value for null either.
  float temperature = query::kDefaultTemperature;
  PlanLimits limits{};
};

struct PlanResult {
  std::optional<Plan> plan;     ///< nothing if there are problems
  std::vector<Error> problems;  ///< `place` is the JSON pointer of the node or field in question
};

/// Plans a query. Never throws for what the query says: what cannot be planned yet (unresolved parameters,
/// ask, file, augment), what is out of range and what would grow beyond the limits are problems, all of them
/// at once.
PlanResult makePlan(const query::Node& query, const PlanOptions& options = {});

}  // namespace spanscope::plan
