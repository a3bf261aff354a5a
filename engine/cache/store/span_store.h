// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values outside of the pool: in host memory, and in a folder that outlives the program. What leaves
// the first for lack of room goes on to the second.
//
// A thread of the store's own writes to the disk. What waits for it, and what it writes just now, is held in
// memory and found there until it is on the disk; it is bounded, and whoever brings more waits.
//
// All sessions of a process may share one; any thread may call any function.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/disk_store.h"
#include "engine/cache/store/host_store.h"
#include "engine/cache/store/patience.h"

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
  /// Most bytes that wait to be written or are being written, of the blocks alone; one is always taken.
  static constexpr std::uint64_t kMostWaiting = 64ULL << 20;

  std::uint64_t hostBytes = 0;   ///< most bytes in host memory; 0: none are kept there
  std::filesystem::path folder;  ///< empty: nothing is kept on the disk
  std::uint64_t diskBytes = 0;   ///< most bytes of the folder; 0: nothing is kept on the disk
  std::uint64_t waitingBytes = kMostWaiting;
  std::function<int(WriteStep)> beforeStep = {};  ///< for tests, see DiskStoreConfig; asked by the writer

  bool usesDisk() const { return !folder.empty() && diskBytes > 0; }
  bool isOn() const { return hostBytes > 0 || usesDisk(); }
};

class SpanStore {
 public:
  /// Throws Failure where the folder cannot be used, see StoreFolder.
  explicit SpanStore(SpanStoreConfig config);
  /// Gives up what waits to be written: flush() first where it is to be kept.
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
  /// Looks whether other processes stored or removed something; before a prompt is looked up.
  void refresh();
  std::optional<Found> find(const ContentName& name) const;
  /// The same of what is on the disk or waits in memory to be written there.
  std::optional<Found> findOnDisk(const ContentName& name) const;
  /// Whether it is on the disk or waits to be written.
  bool isOnDisk(const ContentName& name) const;
  KeptState stateOf(const ContentName& name) const;
  /// What host memory keeps, for forecasts.
  HostStore hostForecast() const;

  /// The bytes of a block that is what is asked for in every respect. Nothing where it is gone or damaged;
  /// then it is not found any more.
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::uint32_t slotBytes);

  /// Takes what leaves the pool: into host memory where that is in use, else to be written to the disk.
  /// Returns which; nothing if it is there already, nowhere to go, or there was no room in time.
  std::optional<trace::StoreTier> spill(HeldBlock block, const Patience& patience = {});
  /// Takes what is to be on the disk. False where there was no room for it in time.
  bool keep(HeldBlock block, const Patience& patience = {});
  /// Has everything written that waits for it, without waiting for more to go with it.
  void startFlush();
  /// The same, and waits until it is done. False where some of it could not be written, or not in time.
  bool flush(const Patience& patience = {});

  /// Empties host memory, having written what waits for it, and lets go of mapped files. What could not be
  /// written in time is still found.
  void clearHost(const Patience& patience = {});

  /// What both tiers hold; `fingerprint`: of the session that asks.
  trace::StoreReported report(const std::string& fingerprint);

  /// What went wrong since the last call.
  std::vector<Error> takeProblems();

 private:
  /// On its way to the disk.
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
  std::condition_variable_any m_changed;  ///< of what waits
  std::optional<DiskStore> m_disk;
  ContentNaming m_naming;
  HostStore m_host;
  std::unordered_map<ContentName, Waiting, ContentNameHasher> m_waiting;
  std::uint64_t m_waitingBytes = 0;    ///< of all of them
  std::uint64_t m_unwrittenBytes = 0;  ///< of those that are not being written
  bool m_isFlushing = false;           ///< what is not being written is to be
  std::uint64_t m_failures = 0;        ///< packs that could not be written
  std::jthread m_writer;               ///< ends first
};

}  // namespace spanscope::cache
