// SPDX-License-Identifier: GPL-3.0-or-later
// What a request would find and what it would need, worked out before anything is changed.
#pragma once

#include "engine/cache/cache_state.h"
#include "engine/cache/kv_cache.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::cache {

/// What a new block is filled with from a tier.
struct PlannedLoad {
  ContentName name;
  ContentName parent;
  std::int32_t tokens = 0;  ///< of what is stored
  std::int32_t slots = 0;   ///< of these, how many are taken
  trace::StoreTier tier = trace::StoreTier::Host;
  std::optional<StoredBytes> bytes;  ///< once they are at hand
};

struct PlannedBlock {
  enum class Source {
    Pool,     ///< `found` is shared
    Sibling,  ///< the block of an equal content that stands earlier in this request, and is computed for that
    Tier,     ///< a block is allocated, and all of it is in a tier
    New       ///< a block is allocated
  };
  Source source = Source::New;
  BlockId found = kNullBlock;       ///< for Pool
  std::size_t allocation = 0;       ///< for all but Pool: which of the plan's allocations
  BlockId copyFrom = kNullBlock;    ///< for New: the block whose first slots are copied, if any
  std::optional<PlannedLoad> load;  ///< for Tier; for New if its first slots are
  trace::BlockLookedUp facts;
};

struct PlannedSegment {
  NodeRef root;                ///< keeps none while the cache is off, as below
  std::vector<NodeRef> nodes;  ///< content by virtual block
  std::vector<PlannedBlock> blocks;
  std::int32_t computeFrom = 0;
};

struct AdmissionPlan {
  std::vector<PlannedSegment> segments;
  std::size_t allocations = 0;
  std::int64_t growthBlocks = 0;  ///< for the lookahead
  std::int64_t neededBlocks =
      0;  ///< allocations, growth, free blocks that were found, and what sharing costs others
  std::int64_t availableBlocks = 0;  ///< free and not kept for others
  std::int64_t smallestNeed = 0;     ///< with an empty pool
  AwaitedContent waitFor;            ///< what a running request computes and this one needs

  bool fits() const { return neededBlocks <= availableBlocks; }
};

/// Blocks that hold `tokens` tokens.
std::int64_t blocksFor(std::int64_t tokens, std::int32_t blockSize);

/// Throws std::invalid_argument if the request makes no sense.
void checkRequest(const RequestSpec& request);

/// Leaves the state as it is, but for nodes that the plan holds. Copies are left out where the request only
/// fits without them: a copy needs its source for a moment, and may be done without by computing some tokens
/// more. `spareBlocks` count as needed besides. `usesTiers`: what the pool lacks is looked for in tiers.
AdmissionPlan planAdmission(CacheState& state, const RequestSpec& request, std::int64_t spareBlocks = 0,
                            bool usesTiers = true);

/// Blocks of all these requests in an empty pool. Leaves the state as it is; throws as checkRequest().
std::int64_t smallestNeed(CacheState& state, std::span<const RequestSpec> requests);

}  // namespace spanscope::cache
