// SPDX-License-Identifier: GPL-3.0-or-later
// The paged KV cache: it knows which physical block holds the keys and values of which tokens. It knows no
// tensors: it returns copies as instructions, and the code that runs the model reports what was computed.
//
// Contents form a trie. A content node is (parent, tokens of one block or tail). The parent of the first node
// of a chain is a root = (fingerprint, salt, ordered list of everything the segment sees with its distance,
// and, for models that scale queries by positions, where it stands).
// Identity is structural: a lookup compares tokens at every step, so a hash collision cannot give wrong data.
// The block key H(parent, tokens, extra) names a node towards the outside (events, traces, disk).
//
// The life of a request: admit it, do the copies and call `copied`, compute its segments in order and call
// `computed`, append and compute further tokens, finish it. A request whose blocks others need is finished
// too, and admitted again later with the tokens it has by then. What it had computed is found again unless it
// was evicted. Wrong use (an unknown request, a request that contradicts itself) throws std::logic_error and
// changes nothing. Not thread-safe.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_key.h"
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
  std::int32_t blockSize = 16;  ///< token slots a block, 1 … kMaxBlockSize
  /// Number of physical blocks, including the null block: ids 1 … blockCount − 1 are handed out.
  /// kMinBlockCount … kMaxBlockCount, and at most kMaxTokenSlots token slots in all (kv_cache.h).
  std::int32_t blockCount = 512;
  /// On: partial tails have keys too. Off: only whole blocks are found, and nothing is copied.
  bool cacheTails = true;
  /// Off: every lookup is a miss.
  bool enabled = true;
  /// 0: keys and values depend on differences of positions only. Otherwise they depend on ⌊position / step⌋,
  /// too, so that number belongs to what a chain is.
  std::int64_t positionStep = 0;
  /// Names everything that keys and values depend on, apart from the tokens and what they see: model,
  /// weights, adapter, KV dtype, rotary table, key layout, backend and its numeric revision.
  std::string fingerprint;
};

/// How a segment sees an earlier segment of the same request.
struct SeenSegment {
  std::uint32_t segment = 0;      ///< index in RequestSpec::segments, smaller than that of the seeing segment
  std::int64_t distance = 0;      ///< base of the seeing segment − base of the seen segment, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token of the seen segment
};

struct SegmentSpec {
  std::vector<TokenId> tokens;
  std::vector<SeenSegment> sees;
  std::int64_t base = 0;  ///< position of local token 0 in this view
  NodePath node;
  /// The blocks of the segment belong to this request alone: they are neither looked up nor stored. Only
  /// private segments may see the segment.
  bool isPrivate = false;
  /// For a private segment: an earlier segment with the same tokens, whose keys and values the code that runs
  /// the model copies. The tokens are not counted a second time.
  std::optional<std::uint32_t> repeats{};
};

struct RequestSpec {
  RequestId id = 0;
  RunId run = 0;
  std::string salt;                   ///< names the tenant; it is part of every root
  std::vector<SegmentSpec> segments;  ///< at least one; the last one is continued by generated tokens
  std::int32_t lookahead = 0;         ///< number of appended tokens for which room is kept free from the
                                      ///< start
  /// A local token of the last segment. All tokens from it on are computed, even if they are stored, and no
  /// other request waits for them. −1: only the last token is always computed.
  std::int32_t alwaysFrom = -1;
  /// For a request that ran before and was preempted: by segment, how many local tokens had been computed.
  /// Empty for a new request.
  std::vector<std::int32_t> computedBefore;
};

/// An instruction to copy the first `slots` token slots of block `source` to block `target`. Both blocks stay
/// referenced until `copied` is called for the request.
struct BlockCopy {
  BlockId source = kNullBlock;
  BlockId target = kNullBlock;
  std::int32_t slots = 0;
};

/// Where the tokens of one segment stand.
struct SegmentBlocks {
  /// By virtual block: local token j is in blocks[j / blockSize], slot j % blockSize.
  std::vector<BlockId> blocks;
  std::int32_t computeFrom = 0;  ///< first local token that is not cached; tokens.size() if all are cached
};

struct Admission {
  std::vector<SegmentBlocks> segments;
  std::vector<BlockCopy> copies;  ///< do these before computing anything
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;      ///< hits, relocated ones included
  std::int64_t relocatedTokens = 0;   ///< hits at another base position than the one they were stored at
  std::int64_t recomputedTokens = 0;  ///< tokens that were computed before a preemption and have been lost
                                      ///< since
};

/// A content that a running request is computing.
struct AwaitedContent {
  RequestId request = 0;      ///< 0: none
  std::uint32_t content = 0;  ///< the number of the content inside the cache
};

/// Why a request was not admitted. Nothing was changed and no event was sent.
struct Refusal {
  enum class Reason {
    NoRoomNow,    ///< there are too few free blocks while others run
    NeverFits,    ///< even an empty pool would be too small
    WaitForOther  ///< another running request is computing tokens that this one needs
  };
  Reason reason = Reason::NoRoomNow;
  /// New blocks, room to grow, and found blocks that are free. Each block is counted once.
  std::int64_t neededBlocks = 0;
  /// Free blocks that are not kept for others. For NeverFits: all blocks that can be handed out.
  std::int64_t availableBlocks = 0;
  AwaitedContent waitFor;  ///< for WaitForOther
};

/// What one segment would find. Asking changes nothing.
struct SegmentLookup {
  std::int32_t cachedTokens = 0;
  std::vector<trace::BlockLookedUp> blocks;  ///< one entry per virtual block: hit, relocated or miss, and why
  std::vector<std::optional<trace::StoreTier>> tiers;  ///< by virtual block: the tier in which the content
                                                       ///< was found, if any
};

struct Slot {
  BlockId block = kNullBlock;
  std::int32_t slot = 0;
  std::optional<BlockCopy> copy;  ///< do this copy first
};

class KvCache {
 public:
  /// Throws Failure if the configuration is out of range. `sink` gets every event and must outlive the cache.
  /// `tiers` take the contents that leave the pool and give them back; may be null.
  KvCache(CacheConfig config, trace::Sink& sink, KeyHash hash = xxh3Key,
          std::shared_ptr<BlockTiers> tiers = nullptr);
  ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  const CacheConfig& config() const;

  /// A separate cache with the same contents in the same blocks and the same order of eviction. The copy
  /// sends its events to `sink`. Throws std::logic_error while a request is running. Memory and time grow
  /// with the number of tokens in the stored blocks.
  std::unique_ptr<KvCache> copy(trace::Sink& sink) const;

  /// What each segment would find. A miss in one segment does not affect the other segments. At least the
  /// last token of the last segment is a miss. The result is what `admit` would report now if it admitted the
  /// request.
  std::vector<SegmentLookup> lookup(const RequestSpec& request) const;

  /// Takes a reference on every block that is hit, and a new block for everything else; or refuses and
  /// changes nothing. Segments of the same request with equal content share blocks: the later segment is
  /// wholly cached, in the blocks that are computed for the earlier one. So does a tail with which an earlier
  /// block begins. A request that an empty pool could not hold is refused, whatever it finds. The request
  /// does not compute what other running requests are computing. It has to wait if one of them will store
  /// even one more of the wanted tokens than is stored now. `spareBlocks`: number of free blocks that must be
  /// left over. Throws Failure if bytes that were found in a tier were lost while they were loaded. The
  /// request then has no blocks, and the lost bytes are not found later.
  std::variant<Admission, Refusal> admit(const RequestSpec& request, std::int64_t spareBlocks = 0);

  /// Evicts every content whose block nobody refers to, on behalf of a request. Use it for a request that was
  /// refused because the same content is found in one block and computed in another. The request then needs
  /// no more blocks than it would in a pool without those contents. Returns the number of evicted contents.
  std::int64_t evictUnused(const RequestSpec& request);

  /// Whether a running request is still computing the content that a refused request waits for. Until it is
  /// done, admitting the refused request is in vain.
  bool isBeingComputed(const AwaitedContent& content) const;

  /// Whether something that the running request found also stands at another base position, or is being
  /// computed by another request. How far the running requests are then decides which of these is found, and
  /// so whether it counts as relocated.
  bool standsElsewhere(RequestId request) const;

  /// Call this when the copies for this request have been done.
  void copied(RequestId request);

  /// Call this when the keys and values of the local tokens [0, end) of the segment are in their blocks.
  /// Lookups then find the full blocks, and also the tail once the whole segment is computed. A longer tail
  /// replaces the shorter one in its block, unless somebody else refers to that block. In that case a later
  /// call replaces it, once nobody else refers to the block.
  void computed(RequestId request, std::uint32_t segment, std::int32_t end);

  /// Appends one generated token to the last segment and returns the place of its key and value. If somebody
  /// else refers to the tail, the tail is copied first. Returns nothing, and changes nothing, if a block is
  /// needed and all free blocks are kept for others. This cannot happen for the first `lookahead` appended
  /// tokens.
  std::optional<Slot> append(RequestId request, TokenId token);

  /// Where the tokens of the segment stand now, including appended ones. The reference is valid until the
  /// request's next append or finish.
  const SegmentBlocks& blocks(RequestId request, std::uint32_t segment) const;

  /// Gives all references back, tails first. What was computed can be found until it is evicted.
  void finish(RequestId request);

  /// Copies everything that can be found to a tier that outlives the session, if there is one. This takes
  /// several calls; each waits at most as long as `patience` allows. True when all of it is done. Contents
  /// that are stored meanwhile may be left out. beginKeeping() starts again from the first block.
  bool keepSome(const Patience& patience);
  void beginKeeping();

  /// Forgets everything except what outlives the session. While a request is running, it does nothing and
  /// returns false.
  bool clear();

  /// The whole pool as it is now. Replaying the events must give the same state.
  trace::PoolState dump() const;

  /// With so many more blocks, the pool would have kept the content that this event
  /// (BlockLookedUp::evictedBy) took. This assumes that the larger pool gets the same requests; it may get
  /// more of them if a request failed because blocks were short. Fewer blocks may suffice, because every use
  /// since then counts, even if it is of the same block. Nothing if the event was too long ago, or if it
  /// emptied the cache, or if the cache was emptied since.
  std::optional<std::uint64_t> blocksToKeep(std::uint64_t sequence) const;

  /// Key of the root of all segments that see nothing, under this salt.
  trace::BlockKey plainRoot(const std::string& salt) const;

  /// The tiers that take the contents which leave the pool; may be null.
  const BlockTiers* tiers() const;

  std::int64_t freeBlocks() const;  ///< blocks that nobody refers to, including those with cached contents
  std::int64_t blocksPerRequest(const RequestSpec& request) const;  ///< an upper bound, as if no block were
                                                                    ///< shared

  /// Number of blocks that these requests need at the same time in an otherwise empty pool. Contents that
  /// they have in common count once.
  std::int64_t blocksTogether(std::span<const RequestSpec> requests) const;

  /// Number of known contents: those of stored blocks and of running requests, and the contents that these
  /// depend on.
  std::size_t contentCount() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

// The largest and smallest sizes of the pool of a KV cache.

inline constexpr std::int32_t kMaxBlockSize = 1024;  ///< token slots a block
/// Number of physical blocks, including the null block.
inline constexpr std::int32_t kMinBlockCount = 2;
inline constexpr std::int32_t kMaxBlockCount = 1 << 24;
/// Token slots of all blocks together.
inline constexpr std::int64_t kMaxTokenSlots = std::numeric_limits<std::int32_t>::max();

}  // namespace spanscope::cache
