// SPDX-License-Identifier: GPL-3.0-or-later
// What two lists have in common, in order: the lines of two files, the words of two answers, the nodes of two
// trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace spanscope {

enum class StandsOn : std::uint8_t { Both, Left, Right };

/// One entry when two lists are laid beside each other.
struct DifferenceStep {
  StandsOn on = StandsOn::Both;
  std::size_t left = 0;   ///< index on the left; without meaning for Right
  std::size_t right = 0;  ///< index on the right; without meaning for Left
  bool operator==(const DifferenceStep&) const = default;
};

/// The two lists in their order, with as many entries on both sides as possible; what stands on the left
/// alone comes before what stands on the right alone. Lists that differ by more than 4000 entries are
/// compared from both ends only: all between is told as different.
/// `isSame`: whether the entry of this index on the left is that on the right.
std::vector<DifferenceStep> differenceOf(std::size_t leftSize, std::size_t rightSize,
                                         const std::function<bool(std::size_t, std::size_t)>& isSame);

}  // namespace spanscope
