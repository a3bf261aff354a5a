// SPDX-License-Identifier: GPL-3.0-or-later
// Two queries beside each other, a line a node.
#pragma once

#include "ui/views/compare/text_diff.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

/// A row of the two trees: what stands on a side where it has nothing is empty.
struct TreeDiffRow {
  DiffKind kind = DiffKind::Same;
  int leftDepth = 0;
  int rightDepth = 0;
  QString left;
  QString right;
  bool operator==(const TreeDiffRow&) const = default;
};

/// Of two queries in canonical JSON, in prompt order, parents first. A node that stands on both sides at
/// different places is Moved at both. Empty where one cannot be read.
std::vector<TreeDiffRow> treeDiff(const std::string& left, const std::string& right);

}  // namespace spanscope::ui
