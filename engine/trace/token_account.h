// SPDX-License-Identifier: GPL-3.0-or-later
// How the tokens of a prompt get their keys and values. Every place that says so counts with this.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <vector>

namespace spanscope::trace {

/// Numbers of tokens.
struct TokenAccount {
  std::int64_t hit = 0;        ///< found where they stand now
  std::int64_t relocated = 0;  ///< found at another position
  std::int64_t computed = 0;   ///< not found
  /// Computed although they were found, because the policy computes them anew in view of the whole prompt.
  std::int64_t again = 0;
  std::int64_t total() const { return hit + relocated + computed + again; }
  std::int64_t cached() const { return hit + relocated; }
  TokenAccount& operator+=(const TokenAccount& other);
  bool operator==(const TokenAccount&) const = default;
};

/// The tokens that were found in one block of a segment.
struct FoundTokens {
  std::int64_t begin = 0;  ///< index of the first found token within the segment
  std::int64_t count = 0;  ///< number of found tokens from `begin` on
  bool relocated = false;
};
/// Reads a lookup event. `blockSize` is in tokens and at least 1.
FoundTokens foundTokens(const BlockLookedUp& block, std::int64_t blockSize);

/// Tokens [begin, end) of a segment. `found` holds what was found of that segment; `again` holds the local
/// tokens that were computed again, ascending; all others count as computed.
TokenAccount accountOf(const std::vector<FoundTokens>& found, const std::vector<std::int32_t>& again,
                       std::int64_t begin, std::int64_t end);

}  // namespace spanscope::trace
