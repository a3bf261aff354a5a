// SPDX-License-Identifier: GPL-3.0-or-later
// Writes packs into the folder of a span store, and removes packs to make room for them.
#pragma once

#include "engine/base/error.h"
#include "engine/cache/store/pack_file.h"
#include "engine/cache/store/store_folder.h"
#include "engine/cache/store/stored_block.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::cache {

/// What a writer is about to do. Tests make it fail at a step.
enum class WriteStep : std::uint8_t { Remove, Create, Reserve, Write, Sync, Rename, SyncFolder };

/// A block that a pack shall hold.
struct BlockToKeep {
  StoredFacts facts;
  std::string text = {};  ///< its first words, to tell packs apart; empty: not known
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

/// A file in the folder of packs.
struct FolderEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t usedAt = 0;  ///< milliseconds since 1970, UTC
  bool isPart = false;      ///< a pack that is being written, or was left unfinished
};
std::vector<FolderEntry> entriesOf(const std::filesystem::path& packs);

struct PackContent {
  const std::string& fingerprint;
  const std::string& model;
  std::uint32_t slotBytes = 0;
  std::span<const BlockToKeep> blocks;  ///< at least one
};

/// The result of a write.
struct WrittenPack {
  std::string name;                  ///< of the file; empty: no pack was written
  std::vector<std::string> removed;  ///< packs that were removed to make room
  std::vector<Error> problems;
  bool isBusy = false;  ///< no pack was written, because another program held the lock for too long
};

/// Any number of threads and processes may write into one folder: packs are named and removed only as a
/// whole.
class PackWriter {
 public:
  /// `folder` must outlive the writer. `limit`: most bytes of all packs, including those that are being
  /// written.
  PackWriter(const StoreFolder& folder, std::uint64_t limit, std::function<int(WriteStep)> beforeStep)
      : m_folder(folder), m_limit(limit), m_beforeStep(std::move(beforeStep)) {}

  /// Writes one pack. First it removes as many of the least recently used packs as needed to stay within the
  /// limit. A write that fails or is given up leaves no part of the new pack. `giveUp` is checked before each
  /// block. The bytes are brought to the disk every mebibyte, so that a request to give up is noticed soon.
  /// It waits for the lock of the folder no longer than `lockWait`.
  WrittenPack write(const PackContent& content, const std::stop_token& giveUp = {},
                    std::chrono::milliseconds lockWait = kLockWait) const;

  /// Removes parts that nobody is writing any more, unless another program holds the lock now.
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
