// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>

namespace spanscope::retrieve {

/// Days since 1970-01-01, in UTC.
using Day = std::int64_t;
Day today();

/// What stays in an index. Queries with different documents share the index, and nothing tells that a
/// document is gone for good; the only sign is that no query has searched it for a long time. Whatever was
/// searched today or yesterday always stays.
struct KeepRule {
  Day unusedDays = 30;  ///< most days that something is kept without use
  std::int64_t mostBytes = std::int64_t{1}
                           << 30;  ///< of fragments' texts; beyond, what was unused longest goes
  std::function<Day()> today = retrieve::today;
};

}  // namespace spanscope::retrieve
