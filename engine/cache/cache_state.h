// SPDX-License-Identifier: GPL-3.0-or-later
// What the cache knows: the pool, what stands in its blocks, and the requests that are running.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/block_tiers.h"
#include "engine/cache/content_trie.h"
#include "engine/cache/eviction_memory.h"
#include "engine/cache/kv_cache.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::cache {

/// What a block can be found as.
struct StoredContent {
  NodeRef node;
  std::int64_t base = 0;  ///< of the segment it was stored for
  std::int32_t virtualIndex = 0;
  RunId run = 0;
  RequestId request = 0;
  NodePath path;
  std::vector<trace::BlockKey> grownFrom;  ///< the shorter contents that this one took the place of
};

struct RunningSegment {
  NodePath path;
  std::int64_t base = 0;
  std::vector<TokenId> tokens;  ///< appended ones included
  bool isPrivate = false;       ///< nothing of it is stored
  SegmentBlocks view;
  std::vector<bool> own;       ///< by virtual block: this request writes it
  NodeRef root;                ///< keeps none while the cache is off, as below
  std::vector<NodeRef> nodes;  ///< content by virtual block, as far as it is known
  std::int32_t computedEnd = 0;
  std::int32_t firstUnstored = 0;  ///< virtual blocks before this one need no storing any more
};

/// A reference kept on the source of a copy that may not have been done yet.
struct CopySource {
  BlockId block = kNullBlock;
  std::uint32_t segment = 0;
};

struct RunningRequest {
  RunId run = 0;
  std::vector<RunningSegment> segments;
  std::vector<CopySource> copySources;
  std::vector<NodeRef> pending;     ///< nodes that are marked as being computed by it
  std::int32_t lookahead = 0;       ///< tokens that may still be appended into room that is kept
  std::int64_t reservedBlocks = 0;  ///< free blocks kept for them

  /// The block into which the next token of the lookahead is going to be written, if it already has it.
  BlockId growingTail(std::int32_t blockSize) const {
    const RunningSegment& last = segments.back();
    if (lookahead == 0 || last.tokens.size() % static_cast<std::size_t>(blockSize) == 0) return kNullBlock;
    return last.view.blocks.back();
  }
};

struct CacheState {
  CacheState(CacheConfig configuration, KeyHash keyHash, std::shared_ptr<BlockTiers> blockTiers)
      : config(std::move(configuration)),
        hash(keyHash),
        tiers(std::move(blockTiers)),
        trie(config.fingerprint, hash, tiers ? &tiers->naming() : nullptr),
        pool(config.blockCount),
        contents(static_cast<std::size_t>(config.blockCount)),
        reachedAt(static_cast<std::size_t>(config.blockCount)) {}

  CacheConfig config;
  KeyHash hash;
  std::shared_ptr<BlockTiers> tiers;  ///< may be null
  ContentTrie trie;                   ///< before everything that keeps nodes of it
  BlockPool pool;
  std::vector<std::optional<StoredContent>> contents;  ///< by block
  EvictionMemory evictions;
  std::uint64_t evicted = 0;  ///< contents, since the cache was emptied
  /// Blocks that were allocated or shared so far, and one more for each segment that was admitted, which
  /// another pool might have found something to copy for: never fewer than leave the free list of any pool.
  std::uint64_t touches = 0;
  /// By block: `touches` at which the free list would come to it, had it stood there since its last use.
  std::vector<std::uint64_t> reachedAt;
  std::uint64_t clearedAt = 0;  ///< sequence number of the last CacheCleared event
  std::map<RequestId, RunningRequest> running;
};

}  // namespace spanscope::cache
