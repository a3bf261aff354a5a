// SPDX-License-Identifier: GPL-3.0-or-later
// How the tokens of a prompt get their keys and values, by what was looked up for their blocks.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <vector>

namespace spanscope::ui {

/// Tokens by how a request gets their keys and values.
struct Served {
  std::int64_t hit = 0;
  std::int64_t relocated = 0;
  std::int64_t computed = 0;
  std::int64_t total() const { return hit + relocated + computed; }
  bool operator==(const Served&) const = default;
};

/// What was found of one block of a segment.
struct FoundTokens {
  std::int64_t begin = 0;  ///< local token of the segment
  std::int64_t count = 0;  ///< from there on
  bool relocated = false;
};
/// `blockSize` in tokens, from 1.
FoundTokens foundTokens(const trace::BlockLookedUp& block, std::int64_t blockSize);

/// Adds the tokens from `begin` to `end` of a segment of which this was found.
void addServed(Served& served, const std::vector<FoundTokens>& found, std::int64_t begin, std::int64_t end);

}  // namespace spanscope::ui
