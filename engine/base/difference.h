// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two lists in order: the lines of two files, the words of two answers, the nodes of two trees. Open
// this file to show a difference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace spanscope {

enum class StandsOn : std::uint8_t { Both, Left, Right };

/// One entry of the aligned lists.
struct DifferenceStep {
  StandsOn on = StandsOn::Both;
  std::size_t left = 0;   ///< index on the left; undefined for Right
  std::size_t right = 0;  ///< index on the right; undefined for Left
  bool operator==(const DifferenceStep&) const = default;
};

/// Aligns the two lists in their order, with the max number of common entries. Entries only on the left come
/// before entries only on the right. Lists that differ by more than 4000 entries are compared only from both
/// ends. All entries between the common ends count as different. `isSame`: whether the left entry and the
/// right entry with the given indices are equal.
std::vector<DifferenceStep> differenceOf(std::size_t leftSize, std::size_t rightSize,
                                         const std::function<bool(std::size_t, std::size_t)>& isSame);

}  // namespace spanscope
