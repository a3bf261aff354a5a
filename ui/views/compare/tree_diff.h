// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two queries and lays them beside each other, one node in a line.
#pragma once

#include "ui/views/compare/text_diff.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

/// A row of the two trees. A side without a node in this row is empty.
struct TreeDiffRow {
  DiffKind kind = DiffKind::Same;
  int leftDepth = 0;
  int rightDepth = 0;
  QString left;
  QString right;
  bool operator==(const TreeDiffRow&) const = default;
};

/// Compares two queries in canonical JSON. Rows are in prompt order, parents first. A node that stands on
/// both sides at different places is Moved at both. Empty if one of the queries cannot be read.
std::vector<TreeDiffRow> treeDiff(const std::string& left, const std::string& right);

}  // namespace spanscope::ui
