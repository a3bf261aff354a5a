// SPDX-License-Identifier: GPL-3.0-or-later
// A pack: keys and values of some blocks in one file, which is written once and never changed.
//
// All numbers are little endian. The file begins with a head of 64 bytes (magic "SPANPACK", version, sizes).
// Then come one entry of 104 bytes per block (names of the block and of its parent, place and checksum of its
// bytes), fingerprint and name of the model, a few words of the contents, and XXH3-128 over all bytes so
// far. The bytes of the blocks follow, each block at a multiple of 64. A pack of a program that kept no words
// has a 0 as their length.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/readable_file.h"
#include "engine/cache/store/content_name.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::cache {

inline constexpr std::uint32_t kPackVersion = 1;

struct PackEntry {
  ContentName name;
  ContentName parent;       ///< name of the block before, or of the root of the chain
  std::int32_t tokens = 0;  ///< token slots
  std::int64_t base = 0;    ///< base position of the segment that the block was stored for
  std::uint64_t offset = 0;
  Hash128 checksum;  ///< XXH3-128 of the bytes of the block
};

struct PackHead {
  std::int64_t storedAt = 0;    ///< milliseconds since 1970, UTC
  std::uint32_t slotBytes = 0;  ///< of one token slot
  std::string fingerprint;      ///< what the keys and values depend on, apart from tokens and what these see
  std::string model;            ///< shown to people
  std::string text;             ///< a few words of each chain that begins in the pack; empty: not known
  std::vector<PackEntry> entries;

  std::uint64_t tokens() const;
  std::size_t bytesOf(const PackEntry& entry) const {
    return static_cast<std::size_t>(entry.tokens) * slotBytes;
  }
};

/// Sets the offset of each entry and returns the bytes before the first block.
std::vector<std::uint8_t> encodePackHead(PackHead& head);
/// Size of the whole file, for a head that encodePackHead() has completed.
std::uint64_t packBytes(const PackHead& head);
/// Upper bound of the bytes that a block of `bytes` bytes takes in a pack, including its entry but not the
/// texts of the head.
std::uint64_t packBytesOfBlock(std::size_t bytes);

enum class PackFault : std::uint8_t {
  None,
  Gone,          ///< there is no such file any more
  Unreadable,    ///< the system refuses to open the file, or other users may access it
  OtherVersion,  ///< another version of the format
  Damaged
};

/// A pack that is mapped into memory.
class Pack {
 public:
  /// Checks the head, and that all blocks lie within the file; it does not check the bytes of blocks. If the
  /// pack cannot be opened, it returns null and sets `fault`, and `what` says why.
  static std::shared_ptr<const Pack> open(const std::filesystem::path& path, PackFault& fault,
                                          std::string& what);
  const PackHead& head() const { return m_head; }
  std::uint64_t fileBytes() const { return m_bytes.get().size(); }
  std::span<const std::byte> blockBytes(const PackEntry& entry) const {
    return m_bytes.get().subspan(static_cast<std::size_t>(entry.offset), m_head.bytesOf(entry));
  }
  bool isIntact(const PackEntry& entry) const;
  /// Whether the file got shorter since it was opened. Bytes that were not checked after that may be zeros.
  bool isCut() const { return m_bytes.isCut(); }
  /// Throws Failure if the file got shorter since it was opened.
  void requireWhole() const;

 private:
  Pack(std::filesystem::path path, MappedBytes bytes) : m_path(std::move(path)), m_bytes(std::move(bytes)) {}

  std::filesystem::path m_path;
  MappedBytes m_bytes;
  PackHead m_head;
};

}  // namespace spanscope::cache
