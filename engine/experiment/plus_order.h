// SPDX-License-Identifier: GPL-3.0-or-later
// Makes variants of a query for comparisons: with the children of plus in another order, and without plus.
// Open this file to add a variant.
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>

namespace spanscope::experiment {

/// Returns the number of children of the widest plus in any prompt, or 0 without a plus.
std::size_t widestPlus(const plan::Plan& plan);

/// Returns the plan with the children of every plus in reversed order, including nested pluses. Steps and
/// their seeds do not change. An answer under a plus is the same answer, at another place.
plan::Plan withReversedPluses(plan::Plan plan);

/// Returns the query without its pluses. A join without other contents is removed too, and so is any operator
/// that lost an input. Returns nothing if no query is left.
std::optional<query::Node> withoutPluses(query::Node query);

}  // namespace spanscope::experiment
