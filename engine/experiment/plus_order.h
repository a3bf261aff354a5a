// SPDX-License-Identifier: GPL-3.0-or-later
// Variants of a query to compare it with: with the children of plus in another order, and without plus.
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>

namespace spanscope::experiment {

/// Number of children of the widest plus in any prompt; 0 if there is no plus.
std::size_t widestPlus(const plan::Plan& plan);

/// The plan with the children of every plus, also nested ones, in reversed order. Steps and their seeds do
/// not change: a reply under a plus is the same reply, at another place.
plan::Plan withReversedPluses(plan::Plan plan);

/// The query without its pluses. A join that contained nothing else is removed too, and so is any other
/// operator that lost an input. Nothing if no query is left.
std::optional<query::Node> withoutPluses(query::Node query);

}  // namespace spanscope::experiment
