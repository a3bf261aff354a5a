// SPDX-License-Identifier: GPL-3.0-or-later
// Counts how the tokens of a prompt get their keys and values, from the lookups of their blocks.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <vector>

namespace spanscope::ui {

/// Numbers of tokens by how a request gets their keys and values.
struct Served {
  std::int64_t hit = 0;
  std::int64_t relocated = 0;
  std::int64_t computed = 0;
  std::int64_t total() const { return hit + relocated + computed; }
  bool operator==(const Served&) const = default;
};

/// The tokens that were found in one block of a segment.
struct FoundTokens {
  std::int64_t begin = 0;  ///< index of the first found token within the segment
  std::int64_t count = 0;  ///< number of found tokens from `begin` on
  bool relocated = false;
};
/// Reads a lookup event. `blockSize` is in tokens and at least 1.
FoundTokens foundTokens(const trace::BlockLookedUp& block, std::int64_t blockSize);

/// Adds to `served` the tokens `begin` … `end` − 1 of a segment. `found` holds what was found of that
/// segment; all other tokens count as computed.
void addServed(Served& served, const std::vector<FoundTokens>& found, std::int64_t begin, std::int64_t end);

}  // namespace spanscope::ui
