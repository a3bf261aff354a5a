// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/layout/layout.h"
#include "engine/layout/span_table.h"

#include <random>
#include <vector>

namespace spanscope::test {

/// Makes random prompts from a store of token runs, so that they share spans, prefixes and partial blocks.
class RandomTables {
 public:
  RandomTables(std::uint64_t seed, std::int32_t vocabulary, std::int32_t longestRun);

  /// A random span table with scopes nested up to `depth` deep. It ends in a dependent segment of the
  /// outermost scope.
  layout::SpanTable next(int depth, layout::Visibility visibility = layout::Visibility::Spans);

 private:
  struct Built {
    layout::SpanTable table;
    layout::Visibility visibility = layout::Visibility::Spans;
    std::int64_t position = 0;
    std::uint32_t scopes = 1;
  };

  std::vector<std::uint32_t> scope(Built& built, std::uint32_t id, std::uint32_t depth, int deeper, bool last,
                                   std::vector<std::uint32_t> seen);
  std::vector<TokenId> tokens();
  int below(int limit);

  std::mt19937_64 m_random;
  std::vector<std::vector<TokenId>> m_runs;
};

/// The number of blocks that a table takes if none are shared.
inline std::int64_t blocksOf(const layout::SpanTable& table, int blockSize) {
  std::int64_t blocks = 0;
  for (const layout::Segment& segment : table.segments)
    blocks += (segment.length() + blockSize - 1) / blockSize;
  return blocks;
}

}  // namespace spanscope::test
