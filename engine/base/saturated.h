// SPDX-License-Identifier: GPL-3.0-or-later
// Adds and multiplies sizes that come from files. A result that is too large becomes the largest value of the
// type. Open this file to compute a size from untrusted numbers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace spanscope {

inline std::uint64_t saturatedSum(std::initializer_list<std::uint64_t> values) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t total = 0;
  for (const std::uint64_t value : values) total = value > kMost - total ? kMost : total + value;
  return total;
}

/// Adds to a sum of counts from a file.
inline void addSaturated(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

/// Returns the product of the factors, which must not be negative.
inline std::uint64_t saturatedProduct(std::initializer_list<std::int64_t> factors) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t result = 1;
  for (const std::int64_t factor : factors) {
    if (factor == 0) return 0;
    const auto value = static_cast<std::uint64_t>(factor);
    result = result > kMost / value ? kMost : result * value;
  }
  return result;
}

}  // namespace spanscope
