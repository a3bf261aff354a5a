// SPDX-License-Identifier: GPL-3.0-or-later
// What two lists have in common, in order.
#pragma once

#include <QString>
#include <QStringList>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::ui {

enum class DiffKind : std::uint8_t {
  Same,   ///< on both sides
  Left,   ///< on the left alone
  Right,  ///< on the right alone
  Moved,  ///< on both sides, at another place: once at each
};

/// One entry of the longer of two lists that were laid beside each other.
struct DiffStep {
  DiffKind kind = DiffKind::Same;
  std::size_t left = 0;   ///< index on the left; of no meaning for Right
  std::size_t right = 0;  ///< and on the right; of no meaning for Left
  bool operator==(const DiffStep&) const = default;
};

/// A longest common subsequence, with what stands only on one side before what stands only on the other.
/// Lists of more than about 2000 by 2000 entries that differ are compared from both ends only: all between is
/// told as different. Moved is never in it.
std::vector<DiffStep> diffOf(const QStringList& left, const QStringList& right);

/// A stretch of text that is the same, or on one side alone.
struct DiffPiece {
  DiffKind kind = DiffKind::Same;
  QString text;
  bool operator==(const DiffPiece&) const = default;
};
/// Two texts word by word; spaces belong to the word before them.
std::vector<DiffPiece> textDiff(const QString& left, const QString& right);

}  // namespace spanscope::ui
