// SPDX-License-Identifier: GPL-3.0-or-later
// Rebuilds the cache of another server from its KV events, and writes the cache as a trace. Open this
// file when the trace of a watched server is wrong.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/server/kv_events.h"
#include "engine/remote/watch/watched_runs.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spanscope::watch {

/// A separate part of the cache: the blocks of one publisher, group of layers and medium.
struct WatchedLane {
  std::size_t publisher = 0;
  std::int64_t group = 0;  ///< group of layers
  std::string medium;      ///< "GPU", "CPU"
  std::int64_t blocks = 0;
  bool operator==(const WatchedLane&) const = default;
};

/// The cache of a server, rebuilt from its KV events. The rules:
/// - Events name blocks by hash. The trace gives each stored block of the device a number. The last released
///   number is used first.
/// - Events do not report which request stored a block. The trace shows *sequences*: a chain of blocks that
///   the server stored one after another. If a stored chain begins in the middle of an earlier chain, the
///   earlier blocks were cache hits. A sequence ends after 10 s without a new block.
/// - Events do not report which blocks are in use. All blocks of the trace have 0 references.
/// - If messages are missing, the content of all earlier blocks of this publisher is unknown. Such blocks
///   have a fill of 0 in the trace. Later events about a block make the block known again.
/// - If the first messages are missing, all blocks that no message describes are unknown, if their number is
/// known.
///
/// Times are nanoseconds of any clock that never goes back. One thread may use the object at a time.
class WatchedCache {
 public:
  static constexpr std::int64_t kQuietTime = 10'000'000'000;  ///< a sequence ends after this time
  static constexpr std::size_t kMostOpen = 64;                ///< max sequences that can continue

  /// `show` returns the displayed text of a token. Null: texts are unknown. `sink` must outlive the object.
  WatchedCache(trace::Sink& sink, WatchedServer server, std::function<std::string(TokenId)> show);

  /// Takes a message of a publisher. Each publisher numbers its messages. Publishers of data parallelism have
  /// different caches.
  void take(std::size_t publisher, const server::KvBatch& batch, std::int64_t now);
  /// The messages before the first one of this publisher are missing.
  void startLate(std::size_t publisher, std::int64_t now);
  /// `missing` messages are missing.
  void beginGap(std::size_t publisher, std::uint64_t missing, std::int64_t now);
  /// Ends the last gap. `isFilled`: take() got the missing messages.
  void endGap(std::size_t publisher, bool isFilled, std::int64_t now);
  /// The publisher has restarted with an empty cache.
  void restart(std::size_t publisher, std::int64_t now);
  /// Takes the totals of the server.
  void count(const TokenTotals& totals, std::int64_t now);
  const TokenTotals& countedTokens() const { return m_counted.sum(); }
  /// Writes a message into the trace.
  void say(Severity severity, std::string text, std::int64_t now) {
    openTrace(now);
    m_runs.say(severity, std::move(text), now);
  }
  /// Call this function a few times per second.
  void tick(std::int64_t now);
  /// Ends all sequences and the run.
  void end(std::int64_t now);

  std::vector<WatchedLane> lanes() const;
  /// The hashes of a lane in ascending order. A block with several copies has its hash several times.
  std::vector<std::uint64_t> hashes(const WatchedLane& lane) const;
  /// The pool of the trace.
  trace::PoolState pool() const;
  std::int64_t unknownBlocks() const;  ///< blocks of the pool with unknown content
  /// Number of events that contradict earlier events. Example: a removed block was never stored.
  std::uint64_t contradictions() const { return m_contradictions; }

 private:
  struct Entry {
    std::vector<BlockId> blocks;          ///< empty if the medium is not the device
    std::uint32_t copies = 0;             ///< including copies without a number
    std::optional<std::uint64_t> parent;  ///< hash of the previous block; nothing: the first block
    server::KvExtraKeys extra;
    std::int32_t index = 0;
    bool isInGap = false;  ///< messages after the block was stored are missing, and are requested
    bool isLost = false;   ///< such messages could not be replayed
    std::vector<TokenId> tokens;
    RunId run = 0;
    RequestId request = 0;
    bool isUnknown() const { return isInGap || isLost; }
  };
  struct Lane {
    WatchedLane facts;
    bool isDevice = true;
    std::unordered_map<std::uint64_t, Entry> entries;
    std::unordered_map<std::uint64_t, RequestId> tails;  ///< open sequences by their last hash
  };
  struct Sequence {
    std::size_t lane = 0;
    RunId run = 0;
    std::uint64_t tail = 0;
    std::vector<TokenId> tokens;
    std::size_t laidOut = 0;  ///< number of tokens that the trace has
    std::int32_t blocks = 0;
    std::int64_t changedAt = 0;
  };

  std::size_t laneOf(std::size_t publisher, const std::optional<std::int64_t>& group,
                     const std::optional<std::string>& medium);
  void store(std::size_t publisher, const server::KvBlocksStored& event, std::int64_t now);
  void storeBlock(std::size_t lane, std::uint64_t hash, Entry made, RequestId request, const Sequence& owner);
  void storeElsewhere(std::size_t publisher, std::size_t lane, const server::KvBlocksStored& event);
  void remove(std::size_t publisher, const server::KvBlocksRemoved& event, std::int64_t now);
  void rememberRemoval(const std::pair<std::size_t, std::uint64_t>& block, std::uint64_t event);
  void removeBlock(std::size_t lane, std::uint64_t hash, trace::RemovalReason reason);
  void clear(std::size_t publisher, std::int64_t now);

  void openSession(std::int32_t blockSize);
  void growBlocks(std::int32_t blockSize);
  void openTrace(std::int64_t now);
  RequestId sequenceFor(std::size_t lane, const server::KvBlocksStored& event, std::int64_t now);
  void layOut(RequestId request, Sequence& sequence);
  void finish(RequestId request);
  BlockId allocate();
  void giveBack(BlockId block);
  void sendPool(std::uint64_t lost);
  trace::BlockKey keyOf(std::size_t lane, std::uint64_t hash) const {
    return {.high = hash, .low = lane + 1};
  }
  trace::BlockKey parentKey(std::size_t lane, const Entry& entry) const;
  std::uint64_t send(RunId run, RequestId request, trace::Payload payload);

  WatchedRuns m_runs;
  TokenGrowth m_counted;
  const std::function<std::string(TokenId)> m_show;

  std::vector<Lane> m_lanes;
  std::set<std::size_t> m_late;  ///< publishers with unknown earlier messages
  bool m_isInGap = false;
  std::uint64_t m_contradictions = 0;

  bool m_isOpen = false;         ///< the session has begun
  std::int32_t m_blockSize = 0;  ///< of the pool: the largest of all lanes
  std::int64_t m_capacity = 0;   ///< blocks of the pool, without the null block
  std::vector<BlockId> m_free;   ///< released numbers
  BlockId m_fresh = 1;           ///< blocks from here to m_capacity were never allocated
  std::vector<BlockId> m_unknown;

  std::map<RequestId, Sequence> m_sequences;
  std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> m_removedBy;  ///< by lane and hash
  std::vector<std::pair<std::size_t, std::uint64_t>> m_removed;  ///< a ring of the last removals
  std::size_t m_nextRemoved = 0;
};

}  // namespace spanscope::watch
