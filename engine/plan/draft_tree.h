// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/plan.h"

#include <vector>

namespace spanscope::plan {

/// Most lines of a tree. If the tree has more, one further line says how many are left out.
inline constexpr std::size_t kMaxTreeLines = 2000;

/// The draft from the top down, one line per node; no line is marked as changed. Equal neighbours are one
/// line with their number.
std::vector<TreeLine> treeOf(const Draft& draft);

}  // namespace spanscope::plan
