// SPDX-License-Identifier: GPL-3.0-or-later
// Writes packs into the folder of a span store, and removes those that must go for them.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/pack_file.h"
#include "engine/cache/store/store_folder.h"
#include "engine/cache/store/stored_block.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::cache {

/// What a writer is about to do, for tests that stop it there.
enum class WriteStep : std::uint8_t { Remove, Create, Reserve, Write, Sync, Rename, SyncFolder };

/// What is to be kept.
struct BlockToKeep {
  StoredFacts facts;
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

/// A file in the folder of packs.
struct FolderEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t usedAt = 0;  ///< milliseconds since 1970, UTC
  bool isPart = false;      ///< that is being written, or was left over
};
std::vector<FolderEntry> entriesOf(const std::filesystem::path& packs);

struct PackContent {
  const std::string& fingerprint;
  const std::string& model;
  std::uint32_t slotBytes = 0;
  std::span<const BlockToKeep> blocks;  ///< at least one
};

/// What came of it.
struct WrittenPack {
  std::string name;                  ///< of the file; empty: there is none
  std::vector<std::string> removed;  ///< packs that had to go
  std::vector<Error> problems;
};

/// Any number of threads and processes may write into one folder: what one removes or names is whole.
class PackWriter {
 public:
  /// The folder must outlive it. `limit`: most bytes of all packs, those that are being written included.
  PackWriter(const StoreFolder& folder, std::uint64_t limit, std::function<int(WriteStep)> beforeStep)
      : m_folder(folder), m_limit(limit), m_beforeStep(std::move(beforeStep)) {}

  /// Writes one pack, having removed as many of the least used ones as it takes to stay within the bound. One
  /// that cannot be written, or is given up, leaves nothing. `giveUp` is looked at after every mebibyte,
  /// which then has been brought to the disk, so that it ends a write soon.
  WrittenPack write(const PackContent& content, const std::stop_token& giveUp = {}) const;

  /// Removes parts that nobody writes any more.
  void removeLeftOvers() const;

 private:
  std::filesystem::path pathOf(const std::string& name) const { return m_folder.packs() / name; }
  int step(WriteStep what) const { return m_beforeStep ? m_beforeStep(what) : 0; }
  std::vector<FolderEntry> withoutLeftOvers() const;
  void makeRoom(std::uint64_t bytes, std::vector<std::string>& removed) const;

  const StoreFolder& m_folder;
  std::uint64_t m_limit;
  std::function<int(WriteStep)> m_beforeStep;
};

}  // namespace spanscope::cache
