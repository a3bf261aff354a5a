// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the median of values. Open this file to summarize measurements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope {

/// Returns the middle value, or the mean of the two middle values. Returns nothing without values.
inline std::optional<double> medianOf(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace spanscope
