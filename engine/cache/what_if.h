// SPDX-License-Identifier: GPL-3.0-or-later
// Says which change of a request would turn a miss into a hit. It uses only what the pool holds and what the
// lookup reported, so it works for a live cache, a prediction and a recording alike. It names a change only
// if the change has the stated effect: the tests make a change of each kind.
//
// It says nothing about contents under another salt or model: a client must not learn of them.
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
  AlwaysComputed,  ///< no change helps: the whole block is stored, but the last token of a prompt is always
                   ///< computed
  CacheOn,         ///< caching were on, and tails were kept
  OtherTokens,     ///< tokens [begin, begin + stored.size()) were `stored`
  OwnSpan,         ///< tokens [begin, begin + count) were a span of their own, which is stored
  SameContext,     ///< the segment saw the same as the segment that the stored block belongs to
  FindEarlier,     ///< block `earlier` of the segment and all blocks after it were found; the content of this
                   ///< block is stored
  LargerPool,      ///< the pool had had `blockCount` blocks, including the null block
  Again            ///< the same request were made again: the block has been computed by then
};
const char* changeName(Change change);  ///< "always_computed", "own_span", …

struct WhatIf {
  Change change = Change::Again;
  /// Number of wanted token slots of the block that would be found after the change.
  std::int32_t found = 0;
  std::int32_t begin = 0;       ///< local token of the segment
  std::int32_t count = 0;       ///< for OwnSpan: number of tokens in the span
  std::int32_t cached = 0;      ///< for OwnSpan: of these tokens, how many would be found
  std::vector<TokenId> stored;  ///< for OtherTokens
  std::int32_t earlier = 0;     ///< for FindEarlier: a virtual block
  std::int64_t blockCount = 0;  ///< for LargerPool: a smaller pool is not known to suffice
  /// The stored block that would be used; the null block if there is none yet.
  BlockId block = kNullBlock;
  bool operator==(const WhatIf&) const = default;
};

/// A segment of the request.
struct WhatIfSegment {
  std::span<const TokenId> tokens;
  bool seesOthers = false;
  /// Local tokens at which a message begins, ascending. A person can make a span of whole messages.
  std::vector<std::int32_t> messages;
};

/// The tokens at which messages begin: a message begins where a run has another node than the run before.
/// Elements of `runs` have `count` and `node`.
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
  /// Key of the root that sees nothing, under the salt of the request. Without it, no OwnSpan is found.
  std::optional<trace::BlockKey> plainRoot;
  /// KvCache::blocksToKeep as it was at the lookup. May be empty.
  std::function<std::optional<std::uint64_t>(std::uint64_t evictedBy)> blocksToKeep;
};

/// For each lookup, the changes that would give a hit, the smallest change first. A block that was found has
/// none.
std::vector<std::vector<WhatIf>> whatIf(const WhatIfInput& input);

}  // namespace spanscope::cache
