// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the change of a request that would turn a miss into a hit. Open this file to add an explanation of a
// miss. The code uses only the pool's state and the lookup's report. The code therefore works for a live
// cache, a prediction and a recording. The code reports a change only if the change has the stated effect.
//
// The code reports nothing about contents with another salt or model. A client must not learn about such
// contents.
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
  AlwaysComputed,  ///< no change helps; the block is stored, but the last token of a prompt is always
                   ///< computed
  CacheOn,         ///< caching would be on, and partial blocks would be kept
  OtherTokens,     ///< tokens [begin, begin + stored.size()) would be `stored`
  OwnSpan,         ///< tokens [begin, begin + count) would be a separate span, which is stored
  SameContext,     ///< the segment would attend to the same segments as the stored block's segment
  FindEarlier,     ///< block `earlier` of the segment would be a hit, then also this block, whose content is
                   ///< stored
  LargerPool,      ///< the pool would have had `blockCount` blocks, including the null block
  Again            ///< the same request would be sent again, after this block has been computed
};
const char* changeName(Change change);  ///< "always_computed", "own_span", …

struct WhatIf {
  Change change = Change::Again;
  /// Number of requested token slots of the block that would be hits after the change.
  std::int32_t found = 0;
  std::int32_t begin = 0;       ///< position in the segment
  std::int32_t count = 0;       ///< for OwnSpan: number of tokens in the span
  std::int32_t cached = 0;      ///< for OwnSpan: number of these tokens that would be hits
  std::vector<TokenId> stored;  ///< for OtherTokens
  std::int32_t earlier = 0;     ///< for FindEarlier: a virtual block
  std::int64_t blockCount = 0;  ///< For LargerPool: this size suffices; a smaller size may not.
  /// The stored block that would be used, or the null block.
  BlockId block = kNullBlock;
  bool operator==(const WhatIf&) const = default;
};

/// A segment of the request.
struct WhatIfSegment {
  std::span<const TokenId> tokens;
  bool seesOthers = false;
  /// Positions in the segment at which a message begins, ascending. The user can turn whole messages into a
  /// span.
  std::vector<std::int32_t> messages;
};

/// Returns the positions at which messages begin. A message begins where a run has another node than the run
/// before. Elements of `runs` have `count` and `node`.
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
  const trace::PoolState& pool;  ///< state at the lookup of the request
  std::span<const trace::BlockLookedUp> lookups;
  std::vector<WhatIfSegment> segments;
  bool cacheTails = true;
  /// Key of the root with an empty list and the salt of the request. Without this key, the result has no
  /// OwnSpan.
  std::optional<trace::BlockKey> plainRoot;
  /// KvCache::blocksToKeep() at the time of the lookup. May be empty.
  std::function<std::optional<std::uint64_t>(std::uint64_t evictedBy)> blocksToKeep;
};

/// Returns, for each lookup, the changes that would give a hit. The smallest change comes first. A hit has no
/// changes.
std::vector<std::vector<WhatIf>> whatIf(const WhatIfInput& input);

}  // namespace spanscope::cache
