// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/draft.h"
#include "engine/plan/plan.h"

#include <vector>

namespace spanscope::plan {

/// Most lines of a tree that are kept; what is left out is said in one more.
inline constexpr std::size_t kMaxTreeLines = 2000;

/// The draft from the top down, a line a node, none of them marked. Neighbours that are equal stand once,
/// with their number.
std::vector<TreeLine> treeOf(const Draft& draft);

}  // namespace spanscope::plan
