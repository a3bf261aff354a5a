// SPDX-License-Identifier: GPL-3.0-or-later
// The paged KV cache. The cache maps tokens to the physical blocks that contain the keys and values of these
// tokens. Open this file first when you work on the cache. The cache has no tensors. The cache returns
// instructions to copy blocks, and the caller reports the computed tokens.
//
// Contents form a trie. A content node is (parent, tokens of one full or partial block). The parent of a
// chain's first node is a root. The identity of a root consists of:
// - fingerprint and salt;
// - the ordered list of the segments that the segment can attend to, each with its distance;
// - the start position of the segment, for models that scale queries by positions.
//
// A lookup compares tokens at every step. A hash collision therefore cannot give wrong data. The block key
// H(parent, tokens, extra) names a node in events, in traces and on the disk.
//
// A request goes through these steps:
// - Admit the request.
// - Copy the blocks as instructed and call copied().
// - Compute its segments in order and call computed().
// - Append and compute further tokens.
// - Finish the request.
//
// A preempted request is also finished. The request is admitted again later, with its tokens so far. Its
// computed blocks are hits unless they were evicted. Wrong use throws std::logic_error and changes nothing.
// Examples are an unknown request and a request that contradicts itself. The class is not thread-safe.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/content_trie.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_state.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::cache {

class BlockTiers;
struct Patience;

struct CacheConfig {
  std::int32_t blockSize = 16;  ///< token slots per block, 1 … kMaxBlockSize
  /// Number of physical blocks, including the null block. Blocks 1 … blockCount − 1 can be allocated. Range:
  /// kMinBlockCount … kMaxBlockCount, and at most kMaxTokenSlots token slots in all blocks.
  std::int32_t blockCount = 512;
  /// On: partial blocks have keys too. Off: only full blocks are hits, and nothing is copied.
  bool cacheTails = true;
  /// Off: every lookup is a miss.
  bool enabled = true;
  /// 0: keys and values depend only on differences of positions. Otherwise keys and values also depend on
  /// ⌊position / step⌋, and this number is part of a chain's identity.
  std::int64_t positionStep = 0;
  /// Identifies everything that keys and values depend on, except tokens and attended segments. The
  /// fingerprint covers model, weights, adapter, KV dtype, rotary table, key layout, backend and the
  /// backend's numeric revision.
  std::string fingerprint;
};

/// An earlier segment of the same request, the target, that a segment can attend to.
struct SeenSegment {
  std::uint32_t segment = 0;  ///< index of the target in RequestSpec::segments; less than the attending
                              ///< segment's index
  std::int64_t distance = 0;  ///< start position of the attending segment − start position of the target, in
                              ///< tokens
  std::int32_t visibleBegin = 0;  ///< first visible position in the target segment
};

struct SegmentSpec {
  std::vector<TokenId> tokens;
  std::vector<SeenSegment> sees;
  std::int64_t base = 0;  ///< start position of the segment in this request
  NodePath node;
  /// The blocks of the segment belong to this request alone. No lookup uses them, and they are not stored.
  /// Only private segments may attend to the segment.
  bool isPrivate = false;
  /// For a private segment: an earlier segment with the same tokens. The code that runs the model copies the
  /// keys and values of that segment. The cache does not count the tokens a second time.
  std::optional<std::uint32_t> repeats{};
};

struct RequestSpec {
  RequestId id = 0;
  RunId run = 0;
  std::string salt;                   ///< identifies the tenant; part of every root
  std::vector<SegmentSpec> segments;  ///< at least one; generated tokens continue the last one
  std::int32_t lookahead = 0;  ///< number of appended tokens for which blocks are reserved at admission
  /// A position in the last segment. All tokens from this position on are computed, even if they are stored.
  /// No other request waits for these tokens. −1: only the last token is always computed.
  std::int32_t alwaysFrom = -1;
  /// For a preempted request: by segment, the number of tokens that were computed before the preemption.
  /// Empty for a new request.
  std::vector<std::int32_t> computedBefore;
};

/// An instruction to copy the first `slots` token slots of block `source` to block `target`. Both blocks stay
/// referenced until copied() is called for the request.
struct BlockCopy {
  BlockId source = kNullBlock;
  BlockId target = kNullBlock;
  std::int32_t slots = 0;
};

/// The blocks and slots of the tokens of one segment.
struct SegmentBlocks {
  /// By virtual block: token j of the segment is in blocks[j / blockSize], slot j % blockSize.
  std::vector<BlockId> blocks;
  std::int32_t computeFrom = 0;  ///< position of the first token that is not cached; tokens.size() if all are
                                 ///< cached
};

struct Admission {
  std::vector<SegmentBlocks> segments;
  std::vector<BlockCopy> copies;  ///< copy these blocks before you compute anything
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;      ///< hits, including relocated hits
  std::int64_t relocatedTokens = 0;   ///< hits at another start position than the stored one
  std::int64_t recomputedTokens = 0;  ///< tokens that were computed before a preemption and have been evicted
                                      ///< since
};

/// A content that a running request is computing.
struct AwaitedContent {
  RequestId request = 0;      ///< 0: none
  std::uint32_t content = 0;  ///< the number of the content inside the cache
};

/// The reason why a request was not admitted. Nothing was changed and no event was emitted.
struct Refusal {
  enum class Reason {
    NoRoomNow,    ///< there are too few free blocks while other requests run
    NeverFits,    ///< even an empty pool would be too small
    WaitForOther  ///< another running request is computing tokens that this request needs
  };
  Reason reason = Reason::NoRoomNow;
  /// New blocks, reserved blocks, and hits in blocks that are not in use. Each block counts once.
  std::int64_t neededBlocks = 0;
  /// Free blocks that are not reserved for other requests. For NeverFits: all blocks except the null block.
  std::int64_t availableBlocks = 0;
  AwaitedContent waitFor;  ///< for WaitForOther
};

/// The result of a lookup of one segment. A lookup changes nothing.
struct SegmentLookup {
  std::int32_t cachedTokens = 0;
  std::vector<trace::BlockLookedUp> blocks;  ///< one entry per virtual block: hit, relocated hit or miss,
                                             ///< with the reason
  std::vector<std::optional<trace::StoreTier>> tiers;  ///< by virtual block: the tier of the hit, if any
};

struct Slot {
  BlockId block = kNullBlock;
  std::int32_t slot = 0;
  std::optional<BlockCopy> copy;  ///< a copy to do first, if any
};

class KvCache {
 public:
  /// Throws Failure if the configuration is out of range. `sink` gets every event and must outlive the cache.
  /// `tiers` stores the contents that leave the pool; `tiers` may be null.
  KvCache(CacheConfig config, trace::Sink& sink, KeyHash hash = xxh3Key,
          std::shared_ptr<BlockTiers> tiers = nullptr);
  ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  const CacheConfig& config() const;

  /// Returns a separate cache with the same contents in the same blocks and the same order of eviction. The
  /// copy emits its events to `sink`. Throws std::logic_error while a request is running. Memory and time
  /// grow with the number of tokens in the stored blocks.
  std::unique_ptr<KvCache> copy(trace::Sink& sink) const;

  /// Looks up each segment. A miss in one segment does not affect the other segments. At least the last token
  /// of the last segment is a miss. The result is the one that admit() would report now.
  std::vector<SegmentLookup> lookup(const RequestSpec& request) const;

  /// Takes a reference on every hit, and allocates a block for every miss. If this is not possible, refuses
  /// the request and changes nothing. Throws Failure if bytes in a tier were lost during loading. The request
  /// then has no blocks, and later lookups do not find the lost bytes. Rules:
  /// - Equal segments of one request share the blocks of the earlier segment. The later segment is completely
  ///   cached.
  /// - A partial block shares an earlier block of the request that begins with it.
  /// - A request that an empty pool could not contain is refused, even with hits.
  /// - The request does not compute contents that other running requests are computing.
  /// - The request waits if one of these requests will store more of the requested tokens than are stored
  ///   now.
  /// - `spareBlocks` free blocks must remain.
  std::variant<Admission, Refusal> admit(const RequestSpec& request, std::int64_t spareBlocks = 0);

  /// Evicts every content whose block is not in use, for a refused request. Use this function if the same
  /// content is a hit in one block and computed in another. The request then needs no more blocks than
  /// without the evicted contents. Returns the number of evictions.
  std::int64_t evictUnused(const RequestSpec& request);

  /// Whether a running request is still computing the content that a refused request waits for. Until then,
  /// admitting the refused request fails.
  bool isBeingComputed(const AwaitedContent& content) const;

  /// Whether a hit of the running request also exists at another start position, or is being computed by
  /// another request. In both cases, the progress of the running requests decides which content the lookup
  /// finds. This progress also decides whether the hit counts as relocated.
  bool standsElsewhere(RequestId request) const;

  /// Call this after the copies for this request.
  void copied(RequestId request);

  /// Call this when the keys and values of positions [0, end) of the segment are in their blocks. Lookups
  /// then find the full blocks. Lookups find the partial block after the whole segment is computed. A longer
  /// partial content replaces the shorter content in its block. If another request uses that block, a later
  /// call replaces the content.
  void computed(RequestId request, std::uint32_t segment, std::int32_t end);

  /// Appends one generated token to the last segment and returns the place of its key and value. If another
  /// request uses the partial block, the block is copied first. Returns nothing and changes nothing if a
  /// block is needed and all free blocks are reserved. The first `lookahead` appended tokens always have a
  /// block.
  std::optional<Slot> append(RequestId request, TokenId token);

  /// Returns the places of the segment's tokens, including appended ones. The reference is valid until the
  /// request's next append or finish.
  const SegmentBlocks& blocks(RequestId request, std::uint32_t segment) const;

  /// Drops all references of the request, partial blocks first. Lookups find the computed contents until they
  /// are evicted.
  void finish(RequestId request);

  /// Copies all contents that a lookup can find to a tier that outlives the session. Without such a tier,
  /// nothing is copied. Call this function until it returns true. Each call waits at most as long as
  /// `patience` allows. Contents that are stored between the calls may be left out. beginKeeping() starts
  /// again from the first block.
  bool keepSome(const Patience& patience);
  void beginKeeping();

  /// Drops everything except the contents that outlive the session. Returns false and does nothing while a
  /// request is running.
  bool clear();

  /// Returns the state of the whole pool. A replay of the events must give the same state.
  trace::PoolState dump() const;

  /// Returns the number of additional blocks with which the pool would have kept an evicted content.
  /// `sequence` is the event that evicted the content (BlockLookedUp::evictedBy). Returns nothing if the
  /// event is too old, or if the cache was emptied at the event or later. The number assumes that the larger
  /// pool gets the same requests. The larger pool may get more requests if a request failed because there was
  /// no free block. Fewer blocks may suffice, because repeated uses of one block all count.
  std::optional<std::uint64_t> blocksToKeep(std::uint64_t sequence) const;

  /// Returns the key of the root with an empty list, under this salt.
  trace::BlockKey plainRoot(const std::string& salt) const;

  /// Returns the tiers of the constructor; may be null.
  const BlockTiers* tiers() const;

  std::int64_t freeBlocks() const;  ///< blocks that are not in use, including those with cached contents
  std::int64_t blocksPerRequest(const RequestSpec& request) const;  ///< an upper bound, as if no block were
                                                                    ///< shared

  /// Returns the number of blocks that these requests need at the same time in an otherwise empty pool.
  /// Contents that they share count once.
  std::int64_t blocksTogether(std::span<const RequestSpec> requests) const;

  /// Returns the number of known contents. These are the contents of stored blocks and running requests, and
  /// the contents that they depend on.
  std::size_t contentCount() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

// The min and max sizes of the pool of a KV cache.

inline constexpr std::int32_t kMaxBlockSize = 1024;  ///< token slots per block
/// Number of physical blocks, including the null block.
inline constexpr std::int32_t kMinBlockCount = 2;
inline constexpr std::int32_t kMaxBlockCount = 1 << 24;
/// Token slots of all blocks together.
inline constexpr std::int64_t kMaxTokenSlots = std::numeric_limits<std::int32_t>::max();

}  // namespace spanscope::cache
