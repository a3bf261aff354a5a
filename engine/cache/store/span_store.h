// SPDX-License-Identifier: GPL-3.0-or-later
// The span store. The span store keeps keys and values outside of the pool, in host memory (CPU offload) and
// on disk. When host memory is full, the least recently used blocks go to the disk. Open this file first when
// you work on CPU offload or the disk cache.
//
// One thread of the store writes to the disk. Blocks wait in memory until they are on the disk, and lookups
// find the waiting blocks. The bytes of waiting blocks are limited. A caller with more blocks must wait.
//
// All sessions of a process may share one store. Any thread may call any function of SpanStore.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/disk_store.h"
#include "engine/cache/store/stored_block.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

/// A block with its bytes.
struct HeldBlock {
  StoredFacts facts;
  std::shared_ptr<const StoreOwner> owner;
  std::uint64_t chain = 0;  ///< number of the chain; the blocks of one stored segment have the same number
  std::int32_t place = 0;   ///< index of the block in the chain
  std::string text = {};    ///< see BlockToKeep::text
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< null in a prediction, which has no bytes
  std::uint64_t predictionSize = 0;                     ///< for a prediction: number of bytes of the block
  std::int64_t storedAt = 0;                            ///< milliseconds since 1970, UTC
  std::int64_t usedAt = 0;

  std::uint64_t size() const { return bytes ? bytes->size() : predictionSize; }
};

/// The tier in host memory. Within its limit, the tier keeps the most recently used blocks. Not thread-safe:
/// only one thread at a time may use it.
class HostStore {
 public:
  /// `limit`: max bytes, including the overhead of each block. 0: the store keeps nothing.
  explicit HostStore(std::uint64_t limit) : m_limit(limit) {}
  /// Returns a store with the same blocks in the same order, but without bytes. The returned store drops the
  /// same blocks as this store.
  HostStore prediction() const;

  /// Puts the block at the front of the order if it is new and fits. Returns the blocks that were dropped to
  /// get space. Returns the block itself if it does not fit.
  std::vector<HeldBlock> put(HeldBlock block);
  const HeldBlock* find(const ContentName& name) const;
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::int64_t now);
  void clear();

  std::uint64_t limit() const { return m_limit; }
  std::uint64_t bytes() const { return m_bytes; }
  std::uint64_t tokens() const { return m_tokens; }
  std::size_t count() const { return m_blocks.size(); }
  /// Returns all blocks, the most recently used first.
  const std::list<HeldBlock>& blocks() const { return m_order; }

  static std::uint64_t bytesOf(const HeldBlock& block);

 private:
  std::uint64_t m_limit;
  std::uint64_t m_bytes = 0;
  std::uint64_t m_tokens = 0;
  std::list<HeldBlock> m_order;
  std::unordered_map<ContentName, std::list<HeldBlock>::iterator, ContentNameHasher> m_blocks;
};

struct SpanStoreConfig {
  /// Max bytes of blocks that wait to be written or are being written. An empty queue accepts a block of any
  /// size.
  static constexpr std::uint64_t kMostWaiting = 64ULL << 20;

  std::uint64_t hostBytes = 0;   ///< max bytes in host memory; 0: no blocks are kept there
  std::filesystem::path folder;  ///< empty: nothing is kept on the disk
  std::uint64_t diskBytes = 0;   ///< max bytes of all packs in the folder; 0: nothing is kept on the disk
  std::uint64_t waitingBytes = kMostWaiting;
  Patience lockWait = {
      .most = kLockWait};  ///< for the folder's lock; `stop` ends only the wait of the constructor
  std::function<int(WriteStep)> beforeStep = {};  ///< for tests; called by the writing thread

  bool usesDisk() const { return !folder.empty() && diskBytes > 0; }
  bool isOn() const { return hostBytes > 0 || usesDisk(); }
};

class SpanStore {
 public:
  /// Throws Failure if the folder cannot be used, see StoreFolder. A new store may need a lock that another
  /// program has. In that case, this object uses no disk and reports a problem.
  explicit SpanStore(SpanStoreConfig config);
  /// Drops the blocks that wait to be written. Call flush() first to write these blocks.
  ~SpanStore();
  SpanStore(const SpanStore&) = delete;
  SpanStore& operator=(const SpanStore&) = delete;

  const SpanStoreConfig& config() const { return m_config; }
  const ContentNaming& naming() const { return m_naming; }

  struct Found {
    trace::StoreTier tier = trace::StoreTier::Host;
    std::int32_t tokens = 0;
    std::int64_t base = 0;
    std::uint64_t bytes = 0;
  };
  /// Checks whether other processes stored or removed something. Call this before the lookup of a prompt.
  void refresh();
  std::optional<Found> find(const ContentName& name) const;
  /// Finds a content that is on the disk, or that waits to be written there.
  std::optional<Found> findOnDisk(const ContentName& name) const;
  /// Whether the content is on the disk or waits to be written there.
  bool isOnDisk(const ContentName& name) const;
  KeptState stateOf(const ContentName& name) const;
  /// Returns a copy of the host memory for predictions.
  HostStore hostPrediction() const;

  /// Returns the bytes of a block if name, parent, tokens, slot size and checksum all match. Returns nothing
  /// if the block is lost or damaged. The store then does not find the block again.
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::uint32_t slotBytes);

  /// Takes a block that leaves the pool. The block goes into host memory if host memory is in use, otherwise
  /// into the queue for the disk. Returns the tier. Returns nothing in these cases:
  /// - the block is already stored;
  /// - no tier is in use;
  /// - no space became free in time.
  std::optional<trace::StoreTier> spill(HeldBlock block, const Patience& patience = {});
  /// Takes a block for the disk. Returns false if no space became free in time.
  bool keep(HeldBlock block, const Patience& patience = {});
  /// Starts to write all waiting blocks and returns immediately.
  void startFlush();
  /// Writes all waiting blocks, and waits until they are written. Returns false if a block was not written in
  /// time.
  bool flush(const Patience& patience = {});

  /// Writes all waiting blocks, then empties host memory and unmaps files. Lookups still find contents that
  /// were not written in time.
  void clearHost(const Patience& patience = {});

  /// Reports the contents of both tiers. `fingerprint` is the fingerprint of the session that calls. All
  /// blocks of a model in host memory form one pack. The name of this pack is not a file name.
  trace::StoreReported report(const std::string& fingerprint);
  /// Returns the known texts of the packs in report(), at most kMostPacksReported texts.
  trace::StoreTextsReported packTexts();

  /// Returns the problems since the last call.
  std::vector<Error> takeProblems();

 private:
  /// A block that waits for the disk.
  struct Waiting {
    HeldBlock block;
    bool isBeingWritten = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  bool await(Lock& lock, HeldBlock block, const Patience& patience);
  void work(const std::stop_token& stop);
  std::vector<HeldBlock> takeBatch();
  void write(Lock& lock, std::vector<HeldBlock> blocks, const std::stop_token& stop);
  void writeOne(Lock& lock, const std::vector<HeldBlock>& blocks, const std::stop_token& stop);
  void settle(const std::vector<HeldBlock>& blocks);

  SpanStoreConfig m_config;
  mutable std::mutex m_mutex;
  std::condition_variable_any m_changed;  ///< signals changes of m_waiting
  std::vector<Error> m_problems;      ///< except the problems of m_disk; declared before m_disk, which adds
                                      ///< problems when it is opened
  std::unique_ptr<DiskStore> m_disk;  ///< null: nothing is kept on the disk
  ContentNaming m_naming;
  HostStore m_host;
  std::unordered_map<ContentName, Waiting, ContentNameHasher> m_waiting;
  std::uint64_t m_waitingBytes = 0;    ///< bytes of all blocks in m_waiting
  std::uint64_t m_unwrittenBytes = 0;  ///< bytes of the blocks in m_waiting that are not being written
  bool m_isFlushing = false;           ///< the writer must also write a batch that is not full
  std::uint64_t m_failures = 0;        ///< number of packs that could not be written
  bool m_isBusy = false;  ///< another program had the folder's lock when the last pack was written
  std::jthread m_writer;  ///< last, so that the thread ends before the other members are destroyed
};

}  // namespace spanscope::cache
