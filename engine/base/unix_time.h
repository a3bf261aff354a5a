// SPDX-License-Identifier: GPL-3.0-or-later
// The time of the system clock as a number. Open this file to write a date into a file.
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

}  // namespace spanscope
