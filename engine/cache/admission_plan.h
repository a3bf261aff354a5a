// SPDX-License-Identifier: GPL-3.0-or-later
// Plans the admission of a request: the hits and the needed blocks. Planning does not change the cache. Open
// this file when a lookup or a refusal looks wrong.
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
  std::int32_t tokens = 0;  ///< number of tokens of the stored content
  std::int32_t slots = 0;   ///< number of these tokens that are loaded
  trace::StoreTier tier = trace::StoreTier::Host;
  std::optional<StoredBytes> bytes;  ///< the bytes; set after they are fetched
};

struct PlannedBlock {
  enum class Source {
    Pool,     ///< `found` is shared
    Sibling,  ///< shares the block of an equal earlier content of this request, or of one that begins with
              ///< this partial block
    Tier,     ///< a new block is allocated and loaded completely from a tier
    New       ///< a new block is allocated
  };
  Source source = Source::New;
  BlockId found = kNullBlock;       ///< for Pool
  std::size_t allocation = 0;       ///< for all but Pool: index of the allocation in the plan
  BlockId copyFrom = kNullBlock;    ///< for New: the block whose first slots are copied, if any
  std::optional<PlannedLoad> load;  ///< for Tier; for New if a tier has its first slots
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
  std::int64_t neededBlocks = 0;     ///< blocks to allocate, blocks to keep free, and hits in blocks that are
                                     ///< not in use
  std::int64_t availableBlocks = 0;  ///< free blocks that are not reserved for others
  std::int64_t smallestNeed = 0;     ///< number of blocks that the request needs in an empty pool
  AwaitedContent waitFor;            ///< content that this request needs and a running request is computing

  bool fits() const { return neededBlocks <= availableBlocks; }
};

/// Returns the number of blocks for `tokens` tokens.
std::int64_t blocksFor(std::int64_t tokens, std::int32_t blockSize);

/// Throws std::invalid_argument if the request contradicts itself.
void checkRequest(const RequestSpec& request);

/// Plans an admission. The state does not change, except that the plan keeps trie nodes. A copy needs a
/// reference on its source block for a short time. If the request fits only without copies, the plan has no
/// copies, and a few more tokens are computed. The function adds `spareBlocks` to the needed blocks. With
/// `usesTiers`, the function searches the tiers for blocks that are not in the pool.
AdmissionPlan planAdmission(CacheState& state, const RequestSpec& request, std::int64_t spareBlocks = 0,
                            bool usesTiers = true);

/// Returns the number of blocks that all these requests together need in an empty pool. Does not change the
/// state. Throws as checkRequest() does.
std::int64_t smallestNeed(CacheState& state, std::span<const RequestSpec> requests);

}  // namespace spanscope::cache
