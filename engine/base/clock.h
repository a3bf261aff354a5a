// SPDX-License-Identifier: GPL-3.0-or-later
// Clocks as numbers. Open this file to write a date into a file, or to measure a time.
#pragma once

#include <chrono>
#include <cstdint>

namespace spanscope {

/// Returns the milliseconds since the beginning of 1970, in UTC.
inline std::int64_t unixMilliseconds() {
  using std::chrono::milliseconds;
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns the seconds that have passed.
inline double secondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace spanscope
