// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/draft.h"

#include <iterator>
#include <utility>
#include <vector>

namespace spanscope::plan {

/// Replaces each child for which `isTakenIn(child, last)` is true by the child's own entries.
template <class IsTakenIn>
void takeIn(Draft& node, IsTakenIn isTakenIn) {
  std::vector<Draft> flat;
  flat.reserve(node.children.size());
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    Draft& child = node.children[i];
    if (isTakenIn(child, i + 1 == node.children.size())) {
      std::move(child.children.begin(), child.children.end(), std::back_inserter(flat));
    } else {
      flat.push_back(std::move(child));
    }
  }
  node.children = std::move(flat);
}

}  // namespace spanscope::plan
