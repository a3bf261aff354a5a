// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values outside of the pool: in host memory, and in a folder that outlives the program. What leaves
// the first for lack of room goes on to the second.
//
// All sessions of a process may share one; any thread may call any function.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/disk_store.h"
#include "engine/cache/store/host_store.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

struct SpanStoreConfig {
  std::uint64_t hostBytes = 0;   ///< most bytes in host memory; 0: none are kept there
  std::filesystem::path folder;  ///< empty: nothing is kept on the disk
  std::uint64_t diskBytes = 0;   ///< most bytes of the folder; 0: nothing is kept on the disk
  std::function<int(WriteStep)> beforeStep = {};  ///< for tests, see DiskStoreConfig

  bool usesDisk() const { return !folder.empty() && diskBytes > 0; }
  bool isOn() const { return hostBytes > 0 || usesDisk(); }
};

class SpanStore {
 public:
  /// Throws Failure where the folder cannot be used, see StoreFolder.
  explicit SpanStore(SpanStoreConfig config);
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
  bool isOnDisk(const ContentName& name) const;
  /// What host memory keeps, for forecasts.
  HostStore hostForecast() const;

  /// The bytes of a block that is what is asked for in every respect. Nothing where it is gone or damaged;
  /// then it is not found any more.
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::uint32_t slotBytes);

  /// Takes what leaves the pool: into host memory where that is in use, else to be written to the disk.
  /// Returns which; nothing if it is there already or nowhere to go.
  std::optional<trace::StoreTier> spill(HeldBlock block);
  /// Takes what is to be on the disk.
  void keep(HeldBlock block);
  /// Writes what waits to be written. False where some of it could not be.
  bool flush();

  /// Empties host memory, having written what waits for it, and lets go of mapped files.
  void clearHost();

  /// What both tiers hold; `fingerprint`: of the session that asks.
  trace::StoreReported report(const std::string& fingerprint);

  /// What went wrong since the last call.
  std::vector<Error> takeProblems();

 private:
  void await(HeldBlock block);
  bool flushLocked();

  SpanStoreConfig m_config;
  mutable std::mutex m_mutex;
  std::optional<DiskStore> m_disk;
  ContentNaming m_naming;
  HostStore m_host;
  std::unordered_map<ContentName, HeldBlock, ContentNameHasher> m_waiting;  ///< to be written
  std::uint64_t m_waitingBytes = 0;
};

}  // namespace spanscope::cache
