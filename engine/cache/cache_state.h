// SPDX-License-Identifier: GPL-3.0-or-later
// The state of the cache: the pool, the contents of its blocks, and the running requests.
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

/// The content under which a block can be found.
struct StoredContent {
  NodeRef node;
  std::int64_t base = 0;  ///< of the segment that the content was stored for
  std::int32_t virtualIndex = 0;
  RunId run = 0;
  RequestId request = 0;
  NodePath path;
  std::vector<trace::BlockKey> grownFrom;  ///< keys of the shorter contents that this one replaced in the
                                           ///< block
};

struct RunningSegment {
  NodePath path;
  std::int64_t base = 0;
  std::vector<TokenId> tokens;  ///< including appended tokens
  bool isPrivate = false;       ///< none of its blocks are stored
  SegmentBlocks view;
  std::vector<bool> own;       ///< by virtual block: whether this request writes the block
  NodeRef root;                ///< empty while the cache is off
  std::vector<NodeRef> nodes;  ///< content by virtual block, as far as it is known; empty while the cache is
                               ///< off
  std::int32_t computedEnd = 0;
  std::int32_t firstUnstored = 0;  ///< all virtual blocks before this one are stored already
};

/// The source of a copy that may not have been done yet; the request keeps a reference on it.
struct CopySource {
  BlockId block = kNullBlock;
  std::uint32_t segment = 0;
};

struct RunningRequest {
  RunId run = 0;
  std::vector<RunningSegment> segments;
  std::vector<CopySource> copySources;
  std::vector<NodeRef> pending;     ///< nodes that are marked as being computed by this request
  std::int32_t lookahead = 0;       ///< tokens that may still be appended, for which room is kept
  std::int64_t reservedBlocks = 0;  ///< free blocks that are kept for the lookahead

  /// The block into which the next token of the lookahead will be written; kNullBlock if it is not allocated
  /// yet.
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
  ContentTrie trie;                   ///< declared before everything that holds its nodes
  BlockPool pool;
  std::vector<std::optional<StoredContent>> contents;  ///< by block
  EvictionMemory evictions;
  std::uint64_t evicted = 0;  ///< number of evicted contents since the cache was emptied
  /// Number of blocks that were allocated or shared so far, plus one for each admitted segment: a pool of
  /// another size might have found a block to copy for the segment. So in a pool of any size no more blocks
  /// have left the free list.
  std::uint64_t touches = 0;
  /// By block: the value of `touches` at which the free list would reach the block if it had been free since
  /// its last use.
  std::vector<std::uint64_t> reachedAt;
  std::uint64_t clearedAt = 0;  ///< sequence number of the last CacheCleared event
  std::map<RequestId, RunningRequest> running;
};

}  // namespace spanscope::cache
