// SPDX-License-Identifier: GPL-3.0-or-later
// Finds what two lists have in common, in order.
#pragma once

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::ui {

enum class DiffKind : std::uint8_t {
  Same,   ///< on both sides
  Left,   ///< only on the left
  Right,  ///< only on the right
  Moved,  ///< on both sides at different places; it stands once at each place
};

/// One step through two lists that are laid beside each other.
struct DiffStep {
  DiffKind kind = DiffKind::Same;
  std::size_t left = 0;   ///< index in the left list; no meaning for Right
  std::size_t right = 0;  ///< index in the right list; no meaning for Left
  bool operator==(const DiffStep&) const = default;
};

/// Compares two lists by a longest common subsequence. Entries only on the left come before entries only on
/// the right. If more than about 2000 by 2000 entries differ, the lists are only compared from both ends, and
/// all between counts as different. The result never holds Moved.
std::vector<DiffStep> diffOf(const QStringList& left, const QStringList& right);

/// A stretch of text that is the same on both sides, or stands only on one.
struct DiffPiece {
  DiffKind kind = DiffKind::Same;
  QString text;
  bool operator==(const DiffPiece&) const = default;
};
/// Compares two texts word by word. Spaces belong to the word before them.
std::vector<DiffPiece> textDiff(const QString& left, const QString& right);

}  // namespace spanscope::ui
