// SPDX-License-Identifier: GPL-3.0-or-later
// The disk cache: the tier of the span store that outlives the program. The disk cache stores packs in a
// folder. Within its limit, the disk cache keeps the most recently used packs. Several processes may use one
// folder. Open this file when a pack is missing or removed.
//
// A writer first writes a pack under a temporary name and syncs it to the disk. Then it renames the pack.
// Readers therefore never see half a pack. If a process is killed, the next process that opens the store
// removes the unfinished file. If the disk is full, the writer removes the unfinished file. Readers check the
// name, parent, number of tokens and checksum of all data. A pack that fails a check is removed. The function
// copyStore() copies a span store into a new folder, to export the disk cache.
#pragma once

#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/cache/store/pack_file.h"
#include "engine/cache/store/store_folder.h"
#include "engine/cache/store/stored_block.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

struct DiskStoreConfig {
  std::filesystem::path folder;
  std::uint64_t limit = 0;                 ///< max bytes of all packs, including unfinished packs
  Patience opening = {.most = kLockWait};  ///< for the lock of a store that does not exist yet
  /// This function is called before each step. If the function returns an error number other than 0, the step
  /// fails with that error.
  std::function<int(WriteStep)> beforeStep = {};
};

/// Describes a pack in the folder.
struct PackSummary {
  std::string name;  ///< name of the file
  PackFault fault = PackFault::None;
  std::string what;  ///< the fault of the pack, in words
  std::string fingerprint;
  std::string model;
  std::string text;  ///< see PackHead::text
  std::uint64_t blocks = 0;
  std::uint64_t damagedBlocks = 0;  ///< counted by verify()
  std::uint64_t tokens = 0;
  std::uint64_t bytes = 0;
  std::int64_t storedAt = 0;  ///< milliseconds since 1970, UTC
  std::int64_t usedAt = 0;
};

/// Not thread-safe: only one thread at a time may use it. Faults of single packs throw no exception.
/// takeProblems() reports them.
class DiskStore {
 public:
  /// Opens or makes the store. Throws Failure and StoreBusy as StoreFolder does.
  explicit DiskStore(DiskStoreConfig config);
  ~DiskStore();
  DiskStore(const DiskStore&) = delete;
  DiskStore& operator=(const DiskStore&) = delete;

  const StoreFolder& folder() const { return m_folder; }
  std::uint64_t limit() const { return m_config.limit; }

  /// Searches for new and removed packs if the folder has changed.
  void refresh();

  struct Found {
    std::int32_t tokens = 0;
    std::int64_t base = 0;
    std::uint64_t bytes = 0;
  };
  /// Searches the tables of the packs. Reads no bytes of blocks.
  std::optional<Found> find(const ContentName& name) const;
  bool has(const ContentName& name) const { return m_index.contains(name); }

  /// Returns the bytes of a block if name, parent, tokens, slot size and checksum all match. A pack with a
  /// wrong block is removed.
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::uint32_t slotBytes);

  /// Unmaps the packs that stayed mapped because their next blocks may be read soon.
  void unmapAll() { m_lastMapped.clear(); }
  /// Records in the folder which packs were used. The function fetch() does not record uses, because it would
  /// then wait for the disk.
  void traceUses();

  /// Writes one pack. First removes as many of the least recently used packs as the limit requires. Returns
  /// false if the pack could not be written. The folder is then unchanged, except for the removed packs.
  bool put(const std::string& fingerprint, const std::string& model, std::uint32_t slotBytes,
           std::vector<BlockToKeep> blocks);
  /// The next three functions are the steps of put(). Use these functions if several threads use the store
  /// and only one thread may wait for the disk. First, leaveOutKnown() removes the blocks that are already
  /// stored from `blocks`.
  void leaveOutKnown(std::vector<BlockToKeep>& blocks);
  /// Second, the writer writes the pack. Only this step may run while another thread uses the store.
  const PackWriter& writer() const { return m_writer; }
  /// Third, take() adds the new pack to the tables. Returns false if no pack was written.
  bool take(const WrittenPack& written);

  /// Returns all packs, the most recently used first.
  std::vector<PackSummary> list();
  /// Reads every byte of every pack, removes damaged packs, and returns the result of list().
  std::vector<PackSummary> verify();
  /// Removes all packs, or all packs of the named model. Returns the number of removed packs. Throws
  /// StoreBusy.
  std::size_t clear(const std::string& model = {});

  std::uint64_t bytes() const;   ///< of the packs that this object has seen
  std::uint64_t blocks() const;  ///< of the packs that this object has seen
  std::uint64_t tokens() const;

  /// Returns the problems since the last call.
  std::vector<Error> takeProblems();

 private:
  struct KnownPack {
    PackHead head;
    std::uint64_t bytes = 0;
    std::weak_ptr<const Pack> mapped;  ///< empty if the mapped pack is not in use
    std::int64_t usedAt = 0;  ///< time of a use that is not yet recorded in the folder; 0: no such use
  };
  struct Place {
    std::string pack;
    std::size_t entry = 0;
  };

  std::filesystem::path pathOf(const std::string& name) const { return m_folder.packs() / name; }
  void add(const std::string& name);
  void forget(const std::string& name);
  void remove(const std::string& name, const std::string& why);
  std::shared_ptr<const Pack> map(const std::string& name, KnownPack& pack);
  void report(const std::filesystem::path& path, std::string found, std::string expected);

  DiskStoreConfig m_config;
  StoreFolder m_folder;
  PackWriter m_writer;
  std::map<std::string, KnownPack> m_packs;
  std::unordered_map<ContentName, Place, ContentNameHasher> m_index;
  std::deque<std::shared_ptr<const Pack>> m_lastMapped;
  std::vector<Error> m_problems;
  std::int64_t m_folderTime = -1;  ///< modification time of the folder at the last read; −1: the folder may
                                   ///< have changed since then
};

class DiskStore;

struct StoreCopyRules {
  UnfinishedFiles* unfinished = nullptr;  ///< gets the paths of all files that are written; must outlive the
                                          ///< copying
  std::stop_token stop{};
};

/// Copies every intact pack and the secret into a new store. An unfinished copy has a temporary name next to
/// `folder`, e.g. "spans.x7g2kq.part" for "spans". If copying fails, the whole copy is removed. Removes
/// damaged packs from `store`, as verify() does. Returns the number of copied packs. Throws OutputFailure if
/// the copy cannot be written. Throws Failure if a file cannot be read, or if a stop was requested.
std::size_t copyStore(DiskStore& store, const std::filesystem::path& folder,
                      const StoreCopyRules& rules = {});

}  // namespace spanscope::cache
