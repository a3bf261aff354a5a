// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the keys and values of one block outside of the pool, and the names of contents. Open this file to
// change how stored blocks are identified.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace spanscope::cache {

// The name of a content in the span store. The name depends on the fingerprint, the salt, the attended
// segments with their distances, and all tokens of the chain. A name is made with a secret. Two contents get
// the same name only by a collision of HMAC-SHA-256. Without the secret, a name reveals nothing about the
// tokens.

struct ContentName {
  Sha256Value bytes{};

  std::string hex() const;
  auto operator<=>(const ContentName&) const = default;
};

struct ContentNameHasher {
  std::size_t operator()(const ContentName& name) const {
    std::size_t hash = 0;
    std::memcpy(&hash, name.bytes.data(), sizeof(hash));
    return hash;
  }
};

/// One entry of the list of segments that a segment can attend to. The entry names the target segment by
/// content name.
struct SeenName {
  ContentName end;            ///< name of the target's last block, which may be partial
  std::int64_t distance = 0;  ///< start position of the attending segment − start position of the target, in
                              ///< tokens
  std::int32_t visibleBegin = 0;  ///< first visible position in the target segment
};

class ContentNaming {
 public:
  explicit ContentNaming(std::span<const std::uint8_t> secret) : m_hmac(secret) {}

  /// Returns the name of the root of a chain. `fixedBase` has the meaning of ContentTrie::root().
  ContentName root(std::string_view fingerprint, std::string_view salt, std::span<const SeenName> seen,
                   std::int64_t fixedBase = 0) const;
  /// Returns the name of a full or partial block with these tokens that follows `parent`.
  ContentName block(const ContentName& parent, std::span<const TokenId> tokens) const;

 private:
  Hmac m_hmac;
};

/// The description of a content in a tier.
struct StoredFacts {
  ContentName name;
  ContentName parent;
  std::int32_t tokens = 0;  ///< token slots
  std::int64_t base = 0;    ///< start position of the segment at the time of storing
};

/// The model of a stored block.
struct StoreOwner {
  std::string fingerprint;      ///< see CacheConfig::fingerprint
  std::string model;            ///< shown to the user
  std::uint32_t slotBytes = 0;  ///< bytes of one token slot
};

class Pack;

/// The checked keys and values of a block. The memory is valid as long as this object exists.
struct StoredBytes {
  StoredFacts facts;
  trace::StoreTier tier = trace::StoreTier::Host;
  std::span<const std::byte> bytes;  ///< one slot after the other
  std::shared_ptr<const void> holder;
  const Pack* pack = nullptr;    ///< the pack that contains the bytes, or null
  std::int64_t nanoseconds = 0;  ///< time that fetching the bytes took
};

/// The max time that a caller waits for the disk.
struct Patience {
  std::stop_token stop = {};
  std::chrono::milliseconds most = std::chrono::hours(24);
};

/// Returns the time of a file in milliseconds since 1970.
std::int64_t fileTime(const timespec& time);

/// The state of a content that was given to keep().
enum class KeptState : std::uint8_t {
  Waiting,  ///< not yet written
  Kept,     ///< on the disk
  Lost      ///< neither waiting nor kept: the write failed, or the content was removed again
};

/// A block and its first words, which identify the block in a list. The pointers must stay valid as long as
/// this object exists.
struct WordedBlock {
  const StoredFacts* facts = nullptr;
  std::string_view text;  ///< empty: unknown
};

/// Returns a few words of each chain that begins in one of the blocks, up to a readable length. The words are
/// the beginning of the chain, in the order of the blocks. Chains at the beginning of a prompt often have
/// equal first words. Such a chain comes last, with the words of its end. The result is empty if no words are
/// known.
std::string firstWords(std::span<const WordedBlock> blocks);

}  // namespace spanscope::cache
