// SPDX-License-Identifier: GPL-3.0-or-later
// Works out what a request would find and what it would need, before anything is changed.
#pragma once

#include "engine/cache/cache_state.h"
#include "engine/cache/kv_cache.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace spanscope::cache {

/// A load from a tier that fills a new block.
struct PlannedLoad {
  ContentName name;
  ContentName parent;
  std::int32_t tokens = 0;  ///< of the stored content
  std::int32_t slots = 0;   ///< of these, how many are loaded
  trace::StoreTier tier = trace::StoreTier::Host;
  std::optional<StoredBytes> bytes;  ///< once they are fetched
};

struct PlannedBlock {
  enum class Source {
    Pool,     ///< `found` is shared
    Sibling,  ///< shares the block of an earlier content of this request, which is computed for that one and
              ///< is equal, or begins with this tail
    Tier,     ///< a block is allocated and wholly loaded from a tier
    New       ///< a block is allocated
  };
  Source source = Source::New;
  BlockId found = kNullBlock;       ///< for Pool
  std::size_t allocation = 0;       ///< for all but Pool: index of the allocation in the plan
  BlockId copyFrom = kNullBlock;    ///< for New: the block whose first slots are copied, if any
  std::optional<PlannedLoad> load;  ///< for Tier; for New if its first slots are in a tier
  trace::BlockLookedUp facts;
};

struct PlannedSegment {
  NodeRef root;                ///< empty while the cache is off
  std::vector<NodeRef> nodes;  ///< content by virtual block; empty while the cache is off
  std::vector<PlannedBlock> blocks;
  std::int32_t computeFrom = 0;
};

struct AdmissionPlan {
  std::vector<PlannedSegment> segments;
  std::size_t allocations = 0;
  std::int64_t growthBlocks = 0;     ///< for the tokens of the lookahead
  std::int64_t neededBlocks = 0;     ///< blocks to allocate or keep free, and free blocks that were found
  std::int64_t availableBlocks = 0;  ///< free blocks that are not kept for others
  std::int64_t smallestNeed = 0;     ///< what the request needs in an empty pool
  AwaitedContent waitFor;            ///< what this request needs and a running request is computing

  bool fits() const { return neededBlocks <= availableBlocks; }
};

/// Number of blocks that hold `tokens` tokens.
std::int64_t blocksFor(std::int64_t tokens, std::int32_t blockSize);

/// Throws std::invalid_argument if the request contradicts itself.
void checkRequest(const RequestSpec& request);

/// Plans without changing the state; only the plan holds nodes. If the request fits only without copies, the
/// plan has none: a copy keeps its source referenced for a moment, and computing some more tokens avoids it.
/// `spareBlocks` are added to the needed blocks. `usesTiers`: look in the tiers for what the pool lacks.
AdmissionPlan planAdmission(CacheState& state, const RequestSpec& request, std::int64_t spareBlocks = 0,
                            bool usesTiers = true);

/// Number of blocks that all these requests together need in an empty pool. Leaves the state as it is. Throws
/// as checkRequest() does.
std::int64_t smallestNeed(CacheState& state, std::span<const RequestSpec> requests);

}  // namespace spanscope::cache
