// SPDX-License-Identifier: GPL-3.0-or-later
// The tier of the span store that outlives the program: packs in a folder, the last used ones that fit into
// its bound. Any number of processes may use one folder.
//
// A pack is written under a name of its own, brought to the disk and then given its name, so that nobody ever
// sees half of one: a process that is killed leaves a part that the next one to open the store removes, and a
// full disk one that its writer removes. Whatever is read is compared in name, parent, fill and checksum;
// what does not fit is removed and counts as not there.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/pack_file.h"
#include "engine/cache/store/pack_writer.h"
#include "engine/cache/store/store_folder.h"
#include "engine/cache/store/stored_block.h"

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace spanscope::cache {

struct DiskStoreConfig {
  std::filesystem::path folder;
  std::uint64_t limit = 0;  ///< most bytes of all packs, those that are being written included
  /// Asked before each step; other than 0: it fails with that number of an error.
  std::function<int(WriteStep)> beforeStep = {};
};

/// A pack as it lies in the folder.
struct PackSummary {
  std::string name;  ///< of the file
  PackFault fault = PackFault::None;
  std::string what;  ///< is wrong with it
  std::string fingerprint;
  std::string model;
  std::uint64_t blocks = 0;
  std::uint64_t damagedBlocks = 0;  ///< found by verify()
  std::uint64_t tokens = 0;
  std::uint64_t bytes = 0;
  std::int64_t storedAt = 0;  ///< milliseconds since 1970, UTC
  std::int64_t usedAt = 0;
};

/// Used by one thread at a time. What is wrong with single packs is no exception but a problem to be told of.
class DiskStore {
 public:
  /// Opens or makes the store. Throws Failure, see StoreFolder.
  explicit DiskStore(DiskStoreConfig config);
  ~DiskStore();
  DiskStore(const DiskStore&) = delete;
  DiskStore& operator=(const DiskStore&) = delete;

  const StoreFolder& folder() const { return m_folder; }
  std::uint64_t limit() const { return m_config.limit; }

  /// Looks for packs that came or went since the last call, where the folder changed.
  void refresh();

  struct Found {
    std::int32_t tokens = 0;
    std::int64_t base = 0;
    std::uint64_t bytes = 0;
  };
  /// What the packs' tables say; no bytes are read.
  std::optional<Found> find(const ContentName& name) const;
  bool has(const ContentName& name) const { return m_index.contains(name); }

  /// The bytes of a block that is what is asked for in every respect. A pack that has a damaged one goes.
  std::optional<StoredBytes> fetch(const ContentName& name, const ContentName& parent, std::int32_t tokens,
                                   std::uint32_t slotBytes);

  /// Lets go of the files that were kept mapped for the next blocks of them.
  void unmapAll() { m_lastMapped.clear(); }
  /// Writes into the folder which packs were used. Not done as they are used: it waits for the disk.
  void tellUses();

  /// Writes one pack, having removed as many of the least used ones as it takes to stay within the bound.
  /// False, and the folder is as it was but for those, where it could not be written.
  bool put(const std::string& fingerprint, const std::string& model, std::uint32_t slotBytes,
           std::vector<BlockToKeep> blocks);
  /// The parts of that, for those who use the store from several threads and have one wait for the disk:
  /// leaves out what is there already, …
  void leaveOutKnown(std::vector<BlockToKeep>& blocks);
  /// … writes, which alone may be done while another thread uses the store, …
  const PackWriter& writer() const { return m_writer; }
  /// … and takes notice of it. False where there is no pack.
  bool take(const WrittenPack& written);

  /// The last used first.
  std::vector<PackSummary> list();
  /// The same after every byte of every pack was read; what is damaged is removed.
  std::vector<PackSummary> verify();
  /// Removes packs, all or those of one model by its name; returns how many.
  std::size_t clear(const std::string& model = {});

  std::uint64_t bytes() const;   ///< of the packs this one knows of
  std::uint64_t blocks() const;  ///< the same
  std::uint64_t tokens() const;

  /// What went wrong since the last call.
  std::vector<Error> takeProblems();

 private:
  struct KnownPack {
    PackHead head;
    std::uint64_t bytes = 0;
    std::weak_ptr<const Pack> mapped;  ///< while somebody needs it
    std::int64_t usedAt = 0;           ///< that the file has not been told yet; 0: it was not used
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
  void tell(const std::filesystem::path& path, std::string found, std::string expected);

  DiskStoreConfig m_config;
  StoreFolder m_folder;
  PackWriter m_writer;
  std::map<std::string, KnownPack> m_packs;
  std::unordered_map<ContentName, Place, ContentNameHasher> m_index;
  std::deque<std::shared_ptr<const Pack>> m_lastMapped;
  std::vector<Error> m_problems;
  std::int64_t m_folderTime = -1;  ///< of its last change when it was read; −1: it may have changed since
};

}  // namespace spanscope::cache
