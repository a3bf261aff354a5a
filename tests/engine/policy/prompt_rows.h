// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of a span table, for references that know no segments.
#pragma once

#include "engine/layout/span_table.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::test {

/// The rows of a table whose segments are all visible from their first token on.
struct PromptRows {
  explicit PromptRows(const layout::SpanTable& table) {
    std::vector<std::size_t> begins;
    for (std::size_t s = 0; s < table.segments.size(); ++s) {
      const layout::Segment& segment = table.segments[s];
      begins.push_back(tokens.size());
      std::vector<std::size_t> before;
      for (const std::uint32_t seen : segment.sees) {
        for (std::int32_t j = 0; j < table.segments[seen].length(); ++j)
          before.push_back(begins[seen] + static_cast<std::size_t>(j));
      }
      for (std::int32_t j = 0; j < segment.length(); ++j) {
        before.push_back(tokens.size());
        tokens.push_back(segment.tokens[static_cast<std::size_t>(j)]);
        positions.push_back(segment.base + j);
        locals.push_back(j);
        isOuter.push_back(segment.scope == 0);
        segments.push_back(s);
        sees.push_back(before);
      }
    }
  }

  std::size_t count() const { return tokens.size(); }

  std::vector<TokenId> tokens;
  std::vector<std::int64_t> positions;
  std::vector<std::int32_t> locals;  ///< local index of each row in its segment
  std::vector<bool> isOuter;         ///< the row belongs to the outermost scope
  std::vector<std::size_t> segments;
  /// For each row: the rows that it attends to, itself included, in view order.
  std::vector<std::vector<std::size_t>> sees;
};

}  // namespace spanscope::test
