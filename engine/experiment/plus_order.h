// SPDX-License-Identifier: GPL-3.0-or-later
// Queries beside a query, to measure it against: with what stands under plus in another order, and without
// it.
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>

namespace spanscope::experiment {

/// How many children the widest plus of any prompt has; 0: there is none.
std::size_t widestPlus(const plan::Plan& plan);

/// The plan with the children of every plus, nested ones included, in reversed order. Steps and their seeds
/// stay as they are: a reply that stands under a plus is the same one, at another place.
plan::Plan withReversedPluses(plan::Plan plan);

/// The query without its pluses. A join that held nothing else goes too, and so does any other operator one
/// of whose inputs has gone; nothing: no query is left.
std::optional<query::Node> withoutPluses(query::Node query);

}  // namespace spanscope::experiment
