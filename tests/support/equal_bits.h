// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstring>
#include <vector>

namespace spanscope::testing {

/// Also tells NaN from NaN, and 0 from −0.
inline bool equalBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace spanscope::testing
