// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps keys and values outside of the pool: in host memory, and in a folder that outlives the program. When
// host memory is full, the least recently used blocks go on to the folder.
//
// The store has a thread that writes to the disk. Blocks that wait for this thread, or that it is writing,
// are held in memory and are found there until they are on the disk. Their bytes are limited: whoever brings
// more blocks has to wait.
//
// All sessions of a process may share one store. Any thread may call any function.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/disk_store.h"
#include "engine/cache/store/host_store.h"
#include "engine/cache/store/stored_block.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

struct SpanStoreConfig {
  /// Most bytes of blocks that wait to be written or are being written. One block is always accepted,
  /// whatever its size.
  static constexpr std::uint64_t kMostWaiting = 64ULL << 20;

  std::uint64_t hostBytes = 0;   ///< most bytes in host memory; 0: no blocks are kept there
  std::filesystem::path folder;  ///< empty: nothing is kept on the disk
  std::uint64_t diskBytes = 0;   ///< most bytes of all packs in the folder; 0: nothing is kept on the disk
  std::uint64_t waitingBytes = kMostWaiting;
  Patience lockWait = {
      .most = kLockWait};  ///< for the folder's lock; `stop` ends the wait of the constructor alone
  std::function<int(WriteStep)> beforeStep = {};  ///< for tests, see DiskStoreConfig; the writing thread
                                                  ///< calls it

  bool usesDisk() const { return !folder.empty() && diskBytes > 0; }
  bool isOn() const { return hostBytes > 0 || usesDisk(); }
};

class SpanStore {
 public:
  /// Throws Failure if the folder cannot be used, see StoreFolder. Where another program holds the lock of a
  /// folder in which a store has to be made, this store uses no disk and reports that as a problem.
  explicit SpanStore(SpanStoreConfig config);
  /// Drops the blocks that wait to be written. Call flush() first to keep them.
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
  /// Checks whether other processes stored or removed something. Call it before a prompt is looked up.
  void refresh();
  std::optional<Found> find(const ContentName& name) const;
  /// The same, but only of what is on the disk or waits in memory to be written there.
  std::optional<Found> findOnDisk(const ContentName& name) const;
  /// Whether the content is on the disk or waits to be written there.
  bool isOnDisk(const ContentName& name) const;
  KeptState stateOf(const ContentName& name) const;
  /// What host memory keeps, for forecasts.
  HostStore hostForecast() const;

  /// The bytes of a block, if name, parent, tokens, slot size and checksum all match. Nothing if the block is
  /// gone or damaged; the store then no longer finds it.
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::uint32_t slotBytes);

  /// Takes a block that leaves the pool: into host memory if that is in use, else into the queue for the
  /// disk. Returns the tier. Nothing if the block is stored already, if no tier is in use, or if there was no
  /// room in time.
  std::optional<trace::StoreTier> spill(HeldBlock block, const Patience& patience = {});
  /// Takes a block that shall be on the disk. False if there was no room for it in time.
  bool keep(HeldBlock block, const Patience& patience = {});
  /// Writes everything that waits now, instead of waiting for more blocks to write with it. Returns at once.
  void startFlush();
  /// The same, and waits until it is done. False if something could not be written, or not in time.
  bool flush(const Patience& patience = {});

  /// Writes what waits, then empties host memory and unmaps files. What could not be written in time is still
  /// found.
  void clearHost(const Patience& patience = {});

  /// What both tiers hold. `fingerprint`: that of the asking session. All blocks of a model in host memory
  /// are one pack, whose name is that of no file.
  trace::StoreReported report(const std::string& fingerprint);
  /// What stands in the packs that report() names, as far as it is known: no more than kMostPacksReported.
  trace::StoreTextsReported packTexts();

  /// The problems since the last call.
  std::vector<Error> takeProblems();

 private:
  /// A block on its way to the disk.
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
  std::vector<Error> m_problems;          ///< besides those of m_disk; made before the disk is opened
  std::unique_ptr<DiskStore> m_disk;      ///< null: nothing is kept on the disk
  ContentNaming m_naming;
  HostStore m_host;
  std::unordered_map<ContentName, Waiting, ContentNameHasher> m_waiting;
  std::uint64_t m_waitingBytes = 0;    ///< of all blocks in m_waiting
  std::uint64_t m_unwrittenBytes = 0;  ///< of those that are not being written
  bool m_isFlushing = false;           ///< the writer shall write the blocks that it is not writing yet
  std::uint64_t m_failures = 0;        ///< number of packs that could not be written
  bool m_isBusy = false;  ///< another program held the folder's lock when the last pack was written
  std::jthread m_writer;  ///< last, so that the thread ends before the other members are
                          ///< destroyed
};

}  // namespace spanscope::cache
