// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace spanscope::cuda {

/// What happened to the noted work of a backend.
struct GraphCounts {
  std::int64_t captures = 0;  ///< graphs that were recorded
  std::int64_t replays = 0;   ///< replays of graphs
  std::int64_t given = 0;     ///< lists of notes that were given one by one
  std::int64_t dropped = 0;   ///< graphs that were dropped for others
  std::int64_t notes = 0;     ///< operations in the graph that was recorded last
  bool operator==(const GraphCounts&) const = default;
};

}  // namespace spanscope::cuda
