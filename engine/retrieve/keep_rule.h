// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>

namespace spanscope::retrieve {

/// Days since 1970-01-01, in UTC.
using Day = std::int64_t;
Day today();

/// What stays in an index, which queries with different documents share: nothing says that a document is gone
/// for good but that no query has searched it for long. What was searched today or the day before always
/// stays.
struct KeepRule {
  Day unusedDays = 30;  ///< for which something is kept
  std::int64_t mostBytes = std::int64_t{1}
                           << 30;  ///< of fragments' texts; beyond, what was unused longest goes
  std::function<Day()> today = retrieve::today;
};

}  // namespace spanscope::retrieve
