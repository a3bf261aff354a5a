// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/block_choice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace spanscope::compute {

void chooseBlocks(std::span<const float> bounds, std::int32_t most, std::span<std::uint8_t> chosen) {
  const std::size_t count = bounds.size();
  if (count <= static_cast<std::size_t>(most)) {
    std::ranges::fill(chosen, std::uint8_t{1});
    return;
  }
  std::ranges::fill(chosen, std::uint8_t{0});
  chosen.front() = 1;
  chosen.back() = 1;
  std::vector<std::size_t> order(count - 2);
  std::iota(order.begin(), order.end(), std::size_t{1});
  const auto isBefore = [&](std::size_t a, std::size_t b) {
    const float first = bounds[a];
    const float second = bounds[b];
    if (std::isnan(first) != std::isnan(second)) return std::isnan(first);
    if (first > second || first < second) return first > second;
    return a < b;
  };
  const auto others = static_cast<std::ptrdiff_t>(most) - 2;
  std::nth_element(order.begin(), order.begin() + others, order.end(), isBefore);
  for (auto at = order.begin(); at != order.begin() + others; ++at) chosen[*at] = 1;
}

}  // namespace spanscope::compute
