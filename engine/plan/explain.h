// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"

#include <string>

namespace spanscope::plan {

/// The plan as a person reads it, like a database's EXPLAIN: the rules that were applied (before, after,
/// why), the steps by ply with their settings and prompts, what the query yields. Lines of text, each ended
/// by a newline.
std::string explain(const Plan& plan);

}  // namespace spanscope::plan
