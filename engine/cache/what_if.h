// SPDX-License-Identifier: GPL-3.0-or-later
// What change of a request would make a hit of a block that was not found. Worked out from what the pool
// holds and what the lookup said, so that it can be told of a live cache, of a prediction and of a recording
// alike. Only changes are named that do what is said: each kind is tested by making it.
//
// Nothing is said of contents under another salt or model: who asks must not learn of them.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_state.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::cache {

enum class Change : std::uint8_t {
  AlwaysComputed,  ///< none: all of it is stored, but the last token of a prompt is computed all the same
  CacheOn,         ///< caching were on, and tails were kept
  OtherTokens,     ///< tokens [begin, begin + stored.size()) were `stored`
  OwnSpan,         ///< tokens [begin, begin + count) were a span of their own, as which they are stored
  SameContext,     ///< the segment saw what the one saw that the block was stored for
  FindEarlier,  ///< block `earlier` of the segment, and all after it, were found; its own content is stored
  LargerPool,   ///< the pool had had `blockCount` blocks, the null block included
  Again         ///< the same were asked for once more: it has been computed by then
};
const char* changeName(Change change);  ///< "always_computed", "own_span", …

struct WhatIf {
  Change change = Change::Again;
  /// Token slots of the block that would be found then, of those that the lookup wanted.
  std::int32_t found = 0;
  std::int32_t begin = 0;       ///< local token of the segment
  std::int32_t count = 0;       ///< for OwnSpan: tokens of the span
  std::int32_t cached = 0;      ///< for OwnSpan: of them, how many would be found
  std::vector<TokenId> stored;  ///< for OtherTokens
  std::int32_t earlier = 0;     ///< for FindEarlier: a virtual block
  std::int64_t blockCount = 0;  ///< for LargerPool: no fewer are known to do
  /// The stored block that would serve; the null block where there is none yet.
  BlockId block = kNullBlock;
  bool operator==(const WhatIf&) const = default;
};

/// A segment of the request.
struct WhatIfSegment {
  std::span<const TokenId> tokens;
  bool seesOthers = false;
  /// Local tokens at which a message begins, ascending: what a person can make a span of.
  std::vector<std::int32_t> messages;
};

/// Where messages begin: at each run of another node than the one before. `runs` have `count` and `node`.
template <class Runs>
std::vector<std::int32_t> messageBegins(const Runs& runs) {
  std::vector<std::int32_t> begins;
  std::int32_t begin = 0;
  const NodePath* node = nullptr;
  for (const auto& run : runs) {
    if (run.count > 0 && (node == nullptr || *node != run.node)) begins.push_back(begin);
    if (run.count > 0) node = &run.node;
    begin += run.count;
  }
  return begins;
}

struct WhatIfInput {
  const trace::PoolState& pool;  ///< as it was when the request was looked up
  std::span<const trace::BlockLookedUp> lookups;
  std::vector<WhatIfSegment> segments;
  bool cacheTails = true;
  /// Key of the root that sees nothing, under the request's salt. Without, no OwnSpan is found.
  std::optional<trace::BlockKey> plainRoot;
  /// KvCache::blocksToKeep, as it was at the lookup. May be empty.
  std::function<std::optional<std::uint64_t>(std::uint64_t evictedBy)> blocksToKeep;
};

/// For each lookup, the changes that would do, the least one first; none for blocks that were found.
std::vector<std::vector<WhatIf>> whatIf(const WhatIfInput& input);

}  // namespace spanscope::cache
