// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the state of the cache: the pool, the contents of its blocks, and the running requests. Open this
// file to read or change that state inside the cache.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_pool.h"
#include "engine/cache/block_tiers.h"
#include "engine/cache/content_trie.h"
#include "engine/cache/kv_cache.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::cache {

/// The content by which a lookup finds a block.
struct StoredContent {
  NodeRef node;
  std::int64_t base = 0;  ///< start position of the segment at the time of storing
  std::int32_t virtualIndex = 0;
  RunId run = 0;
  RequestId request = 0;
  NodePath path;
  std::vector<trace::BlockKey> grownFrom;  ///< keys of the shorter contents that this content replaced in the
                                           ///< block
};

struct RunningSegment {
  NodePath path;
  std::int64_t base = 0;
  std::vector<TokenId> tokens;  ///< including appended tokens
  bool isPrivate = false;       ///< no lookup finds its blocks
  SegmentBlocks view;
  std::vector<bool> own;       ///< by virtual block: whether this request writes the block
  NodeRef root;                ///< empty while the cache is off
  std::vector<NodeRef> nodes;  ///< known contents, by virtual block; empty while the cache is off
  std::int32_t computedEnd = 0;
  std::int32_t firstUnstored = 0;  ///< all virtual blocks before this one are stored
};

/// The source of a copy that may still be pending. The request keeps a reference on the source.
struct CopySource {
  BlockId block = kNullBlock;
  std::uint32_t segment = 0;
};

struct RunningRequest {
  RunId run = 0;
  std::vector<RunningSegment> segments;
  std::vector<CopySource> copySources;
  std::vector<NodeRef> pending;     ///< nodes that are marked as being computed by this request
  std::int32_t lookahead = 0;       ///< tokens that may still be appended; blocks are reserved for them
  std::int64_t reservedBlocks = 0;  ///< free blocks that are reserved for the lookahead

  /// Returns the block for the next token of the lookahead, or kNullBlock if it is not allocated yet.
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
  ContentTrie trie;                   ///< declared before all members that keep its nodes
  BlockPool pool;
  std::vector<std::optional<StoredContent>> contents;  ///< by block
  EvictionMemory evictions;
  std::uint64_t evicted = 0;  ///< Number of evictions since the cache was emptied.
  /// An upper bound of the blocks that have left the free list, for a pool of any size. The bound counts
  /// allocated blocks, shared blocks and admitted segments. A segment counts because a pool of another size
  /// might have copied a block for it.
  std::uint64_t touches = 0;
  /// By block: the value of `touches` at which the block would reach the front of the free list. The value
  /// assumes that the block has been free since its last use.
  std::vector<std::uint64_t> reachedAt;
  std::uint64_t clearedAt = 0;  ///< sequence number of the last CacheCleared event
  std::map<RequestId, RunningRequest> running;
};

}  // namespace spanscope::cache
