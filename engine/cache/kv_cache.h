// SPDX-License-Identifier: GPL-3.0-or-later
// The paged KV cache: which physical block holds the keys and values of which tokens. It knows no tensors:
// copies are handed out as instructions, and whoever runs the model reports what was computed.
//
// Content is a trie. A content node is (parent, tokens of one block or tail); the parent of a chain's first
// node is a root = (fingerprint, salt, ordered list of everything the segment sees with its distance).
// Identity is structural: a lookup compares tokens at every step, so a hash collision cannot serve wrong
// data. The block key H(parent, tokens, extra) names a node towards the outside (events, traces, disk).
//
// A request's life: admit, do the copies and call `copied`, compute segments in order and call `computed`,
// append and compute further tokens, finish. A request whose blocks others need is finished too, and admitted
// again later with the tokens it has by then: what it had computed is found unless it was evicted. Wrong use
// (an unknown request, a request that makes no sense) is an error of the caller: std::logic_error, and
// nothing was changed. Not thread-safe.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/block_key.h"
#include "engine/trace/event.h"
#include "engine/trace/pool_state.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
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
  /// Physical blocks, the null block included: ids 1 … blockCount − 1 are handed out. kMinBlockCount …
  /// kMaxBlockCount, and no more than kMaxTokenSlots in all (pool_limits.h).
  std::int32_t blockCount = 512;
  /// Partial tails have keys too. Off: only whole blocks are found, and nothing is copied.
  bool cacheTails = true;
  /// Off: nothing is ever found.
  bool enabled = true;
  /// Names everything that keys and values depend on besides tokens and what they see: model, weights,
  /// adapter, KV dtype, rotary table, key layout, backend and its numeric revision.
  std::string fingerprint;
};

/// An earlier segment of the same request, as a segment sees it.
struct SeenSegment {
  std::uint32_t segment = 0;      ///< index in RequestSpec::segments, smaller than the seer's
  std::int64_t distance = 0;      ///< seer's base − seen one's base, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token of the seen segment
};

struct SegmentSpec {
  std::vector<TokenId> tokens;
  std::vector<SeenSegment> sees;
  std::int64_t base = 0;  ///< position of local token 0 in this view
  NodePath node;
  /// Its blocks belong to the request alone: nothing of it is looked up or stored, and nothing but private
  /// segments sees it.
  bool isPrivate = false;
  /// Of a private segment: an earlier one with the same tokens, whose keys and values whoever runs the model
  /// copies. Its tokens are not counted a second time.
  std::optional<std::uint32_t> repeats{};
};

struct RequestSpec {
  RequestId id = 0;
  RunId run = 0;
  std::string salt;                   ///< tenant; enters every root
  std::vector<SegmentSpec> segments;  ///< at least one; the last one is continued by generated tokens
  std::int32_t lookahead = 0;         ///< appended tokens for which room is kept free from the start
  /// Local token of the last segment from which on everything is computed, even if it is stored, and no other
  /// request waits for it; −1: the last token alone is.
  std::int32_t alwaysFrom = -1;
  /// Where the request ran before and was preempted: by segment, how many local tokens had been computed.
  /// Empty for one that begins.
  std::vector<std::int32_t> computedBefore;
};

/// Copy the first `slots` token slots of block `source` to block `target`. Until `copied` is called for the
/// request both stay referenced.
struct BlockCopy {
  BlockId source = kNullBlock;
  BlockId target = kNullBlock;
  std::int32_t slots = 0;
};

/// Where the tokens of one segment stand.
struct SegmentBlocks {
  /// By virtual block: local token j is in blocks[j / blockSize], slot j % blockSize.
  std::vector<BlockId> blocks;
  std::int32_t computeFrom = 0;  ///< first local token that is not cached; tokens.size() if all are
};

struct Admission {
  std::vector<SegmentBlocks> segments;
  std::vector<BlockCopy> copies;  ///< to be done before anything is computed
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;      ///< hits, relocated ones included
  std::int64_t relocatedTokens = 0;   ///< hits at another base position than the one they were stored at
  std::int64_t recomputedTokens = 0;  ///< computed before a preemption, and lost since
};

/// A content that a running request is computing.
struct AwaitedContent {
  RequestId request = 0;      ///< 0: none
  std::uint32_t content = 0;  ///< the cache's own number for it
};

/// Why a request was not admitted. Nothing was changed and no event was sent.
struct Refusal {
  enum class Reason {
    NoRoomNow,    ///< free blocks do not suffice while others run
    NeverFits,    ///< not even an empty pool would do
    WaitForOther  ///< another running request is computing tokens that this one needs
  };
  Reason reason = Reason::NoRoomNow;
  /// New ones, room to grow, and found ones that are free; each counted once.
  std::int64_t neededBlocks = 0;
  /// Free blocks that are not kept for others; for NeverFits all blocks that can be handed out.
  std::int64_t availableBlocks = 0;
  AwaitedContent waitFor;  ///< for WaitForOther
};

/// What one segment would find, without changing anything.
struct SegmentLookup {
  std::int32_t cachedTokens = 0;
  std::vector<trace::BlockLookedUp> blocks;  ///< one entry a virtual block: hit, relocated or miss, and why
  std::vector<std::optional<trace::StoreTier>> tiers;  ///< by virtual block: what is found is in this one
};

struct Slot {
  BlockId block = kNullBlock;
  std::int32_t slot = 0;
  std::optional<BlockCopy> copy;  ///< to be done first
};

class KvCache {
 public:
  /// Throws Failure if the configuration is out of range. `sink` gets every event and must outlive the cache.
  /// `tiers`: where contents go that leave the pool, and come back from; may be null.
  KvCache(CacheConfig config, trace::Sink& sink, KeyHash hash = xxh3Key,
          std::shared_ptr<BlockTiers> tiers = nullptr);
  ~KvCache();
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  const CacheConfig& config() const;

  /// A cache of its own with the same contents in the same blocks and the same order of eviction, which sends
  /// its events to `sink`. Only while no request is running: std::logic_error. Takes memory and time as the
  /// tokens of the stored blocks do.
  std::unique_ptr<KvCache> copy(trace::Sink& sink) const;

  /// Per segment; a miss in one costs only that one. At least the last token of the last segment is a miss.
  /// Says what `admit` would say now if it admitted the request.
  std::vector<SegmentLookup> lookup(const RequestSpec& request) const;

  /// Takes a reference on every block that is hit and a new block for everything else, or refuses and changes
  /// nothing. Segments of the same request with equal content share blocks: the later one is wholly cached,
  /// in blocks that are computed for the earlier one. What other running requests are computing is not
  /// computed again: where they will store more of what is asked for than is stored now, be it one token, the
  /// request has to wait. `spareBlocks`: free blocks that have to be left over.
  /// Throws Failure where bytes that were found in a tier were lost while they were loaded; the request then
  /// has no blocks, and nothing of them is found later.
  std::variant<Admission, Refusal> admit(const RequestSpec& request, std::int64_t spareBlocks = 0);

  /// Evicts, on behalf of a request, everything that stands in blocks nobody refers to: where it was refused
  /// because the same is found in one block and computed in another, it then needs no more than it would in a
  /// pool without them. How many contents that were.
  std::int64_t evictUnused(const RequestSpec& request);

  /// Whether what a refused request waits for is still being computed: admitting it before is in vain.
  bool isBeingComputed(const AwaitedContent& content) const;

  /// The copies handed out for this request have been done.
  void copied(RequestId request);

  /// Keys and values of local tokens [0, end) of the segment are in their blocks. Full blocks become known to
  /// lookups, and so does the tail once the whole segment is computed. A longer tail takes the place of the
  /// shorter one in its block, unless somebody else refers to that block: then a later call does, once nobody
  /// does any more.
  void computed(RequestId request, std::uint32_t segment, std::int32_t end);

  /// Appends one generated token to the last segment and says where its key and value go. A tail that
  /// somebody else refers to is copied first. Nothing where that takes a block and none is free that is not
  /// kept for others, and nothing has changed then; not before `lookahead` tokens were appended.
  std::optional<Slot> append(RequestId request, TokenId token);

  /// Where the segment's tokens stand now, appended ones included. Valid until the request's next append or
  /// finish.
  const SegmentBlocks& blocks(RequestId request, std::uint32_t segment) const;

  /// Gives all references back, tails first. What was computed stays to be found until it is evicted.
  void finish(RequestId request);

  /// Has everything that can be found outlive the session, where there is a tier that does: in as many calls
  /// as it takes, each of which waits as long as it is told to. True when it is done. What comes meanwhile
  /// may be left out; beginKeeping() has all of it looked at.
  bool keepSome(const Patience& patience);
  void beginKeeping();

  /// Forgets everything, but not what outlives the session. False, and nothing happens, while a request is
  /// running.
  bool clear();

  /// The whole pool as it is now; what replaying the events must give.
  trace::PoolState dump() const;

  /// So many blocks more would have kept what this event (BlockLookedUp::evictedBy) took, had nothing else
  /// been asked of the cache, as where a request failed for want of blocks. Fewer may do: what
  /// was used since is counted, not what is distinct among it. Nothing if that was too long ago, or if the
  /// cache was emptied then or since.
  std::optional<std::uint64_t> blocksToKeep(std::uint64_t sequence) const;

  /// Key of the root of whatever sees nothing under this salt.
  trace::BlockKey plainRoot(const std::string& salt) const;

  /// Where contents go that leave the pool; null if nowhere.
  const BlockTiers* tiers() const;

  std::int64_t freeBlocks() const;  ///< blocks that nobody refers to, cached ones included
  std::int64_t blocksPerRequest(const RequestSpec& request) const;  ///< upper bound, nothing shared

  /// Blocks that these requests need all at once in a pool that nothing else is in: what they have in common
  /// counts once.
  std::int64_t blocksTogether(std::span<const RequestSpec> requests) const;

  /// Contents that are known: those of stored blocks and running requests, and what these are made of.
  std::size_t contentCount() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::cache
