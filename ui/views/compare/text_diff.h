// SPDX-License-Identifier: GPL-3.0-or-later
// Finds what two texts have in common, in order.
#pragma once

#include "engine/base/difference.h"

#include <QString>

#include <cstdint>
#include <vector>

namespace spanscope::ui {

enum class DiffKind : std::uint8_t {
  Same,   ///< on both sides
  Left,   ///< only on the left
  Right,  ///< only on the right
  Moved,  ///< on both sides at different places; it stands once at each place
};
/// Of a step of a difference; never Moved.
DiffKind kindOf(StandsOn on);

/// A stretch of text that is the same on both sides, or stands only on one.
struct DiffPiece {
  DiffKind kind = DiffKind::Same;
  QString text;
  bool operator==(const DiffPiece&) const = default;
};
/// Compares two texts word by word. Spaces belong to the word before them.
std::vector<DiffPiece> textDiff(const QString& left, const QString& right);

}  // namespace spanscope::ui
