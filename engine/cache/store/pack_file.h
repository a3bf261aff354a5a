// SPDX-License-Identifier: GPL-3.0-or-later
// The file format of a pack, and the writer of packs. A pack contains the keys and values of some blocks in
// one file. A pack is written once and never changed. Open this file to read or change the format.
//
// All numbers are little endian. The file has these sections:
// - a header of 64 bytes: magic "SPANPACK", version, sizes;
// - one entry of 104 bytes per block: names of block and parent, offset and checksum of the bytes;
// - fingerprint and name of the model, and a few words of the contents (length 0 if unknown);
// - XXH3-128 of all bytes before;
// - the bytes of the blocks, each block at a multiple of 64.
#pragma once

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/readable_file.h"
#include "engine/cache/store/store_folder.h"
#include "engine/cache/store/stored_block.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cache {

inline constexpr std::uint32_t kPackVersion = 1;

struct PackEntry {
  ContentName name;
  ContentName parent;       ///< name of the previous block, or of the root of the chain
  std::int32_t tokens = 0;  ///< token slots
  std::int64_t base = 0;    ///< start position of the segment at the time of storing
  std::uint64_t offset = 0;
  Hash128 checksum;  ///< XXH3-128 of the bytes of the block
};

struct PackHead {
  std::int64_t storedAt = 0;    ///< milliseconds since 1970, UTC
  std::uint32_t slotBytes = 0;  ///< bytes of one token slot
  std::string fingerprint;      ///< identity of everything that keys and values depend on, except tokens and
                                ///< attended segments
  std::string model;            ///< shown to the user
  std::string text;             ///< a few words of each chain that begins in the pack; empty: unknown
  std::vector<PackEntry> entries;

  std::uint64_t tokens() const;
  std::size_t bytesOf(const PackEntry& entry) const {
    return static_cast<std::size_t>(entry.tokens) * slotBytes;
  }
};

/// Sets the offset of each entry and returns the bytes before the first block.
std::vector<std::uint8_t> encodePackHead(PackHead& head);
/// Returns the size of the whole file. Call encodePackHead() before.
std::uint64_t packBytes(const PackHead& head);
/// Returns the max bytes that a block of `bytes` bytes takes in a pack. The number includes the entry, but
/// not the texts of the header.
std::uint64_t packBytesOfBlock(std::size_t bytes);

enum class PackFault : std::uint8_t {
  None,
  Gone,          ///< the file does not exist
  Unreadable,    ///< the system refuses to open the file, or other users have access to it
  OtherVersion,  ///< another version of the format
  Damaged
};

/// A pack that is mapped into memory.
class Pack {
 public:
  /// Opens a pack. Checks the header, and that the file is long enough for all blocks. Does not check the
  /// bytes of blocks. If the pack cannot be opened, returns null, sets `fault`, and writes the reason into
  /// `what`.
  static std::shared_ptr<const Pack> open(const std::filesystem::path& path, PackFault& fault,
                                          std::string& what);
  const PackHead& head() const { return m_head; }
  std::uint64_t fileBytes() const { return m_bytes.get().size(); }
  std::span<const std::byte> blockBytes(const PackEntry& entry) const {
    return m_bytes.get().subspan(static_cast<std::size_t>(entry.offset), m_head.bytesOf(entry));
  }
  bool isIntact(const PackEntry& entry) const;
  /// Whether the file got shorter after opening. Bytes that were not yet checked may then be zeros.
  bool isCut() const { return m_bytes.isCut(); }
  /// Throws Failure if the file got shorter after opening.
  void requireWhole() const;

 private:
  Pack(std::filesystem::path path, MappedBytes bytes) : m_path(std::move(path)), m_bytes(std::move(bytes)) {}

  std::filesystem::path m_path;
  MappedBytes m_bytes;
  PackHead m_head;
};

/// A step of a writer. Tests make single steps fail.
enum class WriteStep : std::uint8_t { Remove, Create, Reserve, Write, Sync, Rename, SyncFolder };

/// A block for a new pack.
struct BlockToKeep {
  StoredFacts facts;
  std::string text = {};  ///< first words of the block, which identify packs in a list; empty: unknown
  std::shared_ptr<const std::vector<std::byte>> bytes;
};

/// A file in the folder of packs.
struct FolderEntry {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t usedAt = 0;  ///< milliseconds since 1970, UTC
  bool isPart = false;      ///< an unfinished pack
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
  std::string name;                  ///< name of the file; empty: no pack was written
  std::vector<std::string> removed;  ///< packs that were removed to get space
  std::vector<Error> problems;
  bool isBusy = false;  ///< no pack was written because another program kept the lock for too long
};

/// Writes packs into the folder of a span store, and removes packs to get space. Several threads and
/// processes may write into one folder. Readers never find an incomplete pack.
class PackWriter {
 public:
  /// `folder` must outlive the writer. `limit`: max bytes of all packs, including unfinished packs.
  PackWriter(const StoreFolder& folder, std::uint64_t limit, std::function<int(WriteStep)> beforeStep)
      : m_folder(folder), m_limit(limit), m_beforeStep(std::move(beforeStep)) {}

  /// Writes one pack. First removes as many of the least recently used packs as the limit requires. A write
  /// that fails or is given up leaves no file. `giveUp` is checked before each block. The bytes are synced to
  /// the disk every MiB, so that the function can stop soon. The function waits at most `lockWait` for the
  /// folder's lock.
  WrittenPack write(const PackContent& content, const std::stop_token& giveUp = {},
                    std::chrono::milliseconds lockWait = kLockWait) const;

  /// Removes unfinished files that no process is writing. Does nothing while another program has the lock.
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
