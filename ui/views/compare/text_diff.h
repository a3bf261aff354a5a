// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two texts by words, and two queries by nodes.
#pragma once

#include "engine/base/difference.h"

#include <QString>

#include <cstdint>
#include <string>
#include <vector>

namespace spanscope::ui {

enum class DiffKind : std::uint8_t {
  Same,   ///< on both sides
  Left,   ///< only on the left
  Right,  ///< only on the right
  Moved,  ///< on both sides at different places, once at each place
};
/// Returns the kind of a difference step; never Moved.
DiffKind kindOf(StandsOn on);

/// A range of text that is on both sides, or only on one side.
struct DiffPiece {
  DiffKind kind = DiffKind::Same;
  QString text;
  bool operator==(const DiffPiece&) const = default;
};
/// Compares two texts word by word. Spaces belong to the previous word.
std::vector<DiffPiece> textDiff(const QString& left, const QString& right);

// Compares two queries side by side, one node per line.

/// A row of the two trees. A side without a node in this row is empty.
struct TreeDiffRow {
  DiffKind kind = DiffKind::Same;
  int leftDepth = 0;
  int rightDepth = 0;
  QString left;
  QString right;
  bool operator==(const TreeDiffRow&) const = default;
};

/// Compares two queries in canonical JSON. Rows are in prompt order, parents first. A node on both sides
/// at different places is Moved at both. Empty if one of the queries cannot be read.
std::vector<TreeDiffRow> treeDiff(const std::string& left, const std::string& right);

}  // namespace spanscope::ui
