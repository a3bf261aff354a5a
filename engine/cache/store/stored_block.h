// SPDX-License-Identifier: GPL-3.0-or-later
// Keys and values of one block outside of the pool.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

namespace spanscope::cache {

// The name of a content in the span store. The name stands for the whole identity of the content:
// fingerprint, salt, everything its segment sees with its distance, and all tokens of its chain. A name is
// made with a secret. So two contents get the same name only by a collision of HMAC-SHA-256. And a name tells
// nothing about the tokens to anybody who does not have the secret.

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

/// One entry of the list of what a segment sees; it names the seen segment by content name.
struct SeenName {
  ContentName end;                ///< of the seen segment's last block or tail
  std::int64_t distance = 0;      ///< base of the seeing segment − base of the seen segment, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token
};

class ContentNaming {
 public:
  explicit ContentNaming(std::span<const std::uint8_t> secret) : m_hmac(secret) {}

  /// Name of the root of a chain. `fixedBase`: as for ContentTrie::root().
  ContentName root(std::string_view fingerprint, std::string_view salt, std::span<const SeenName> seen,
                   std::int64_t fixedBase = 0) const;
  /// Name of a block or tail that holds these tokens and follows `parent`.
  ContentName block(const ContentName& parent, std::span<const TokenId> tokens) const;

 private:
  Hmac m_hmac;
};

/// A content as a tier keeps it.
struct StoredFacts {
  ContentName name;
  ContentName parent;
  std::int32_t tokens = 0;  ///< token slots
  std::int64_t base = 0;    ///< base position of the segment that the content was stored for
};

/// The model that a stored block belongs to.
struct StoreOwner {
  std::string fingerprint;      ///< see CacheConfig::fingerprint
  std::string model;            ///< shown to people
  std::uint32_t slotBytes = 0;  ///< of one token slot
};

class Pack;

/// The checked keys and values of a block. The holder keeps the memory valid as long as this object lives.
struct StoredBytes {
  StoredFacts facts;
  trace::StoreTier tier = trace::StoreTier::Host;
  std::span<const std::byte> bytes;  ///< slots one after the other
  std::shared_ptr<const void> holder;
  const Pack* pack = nullptr;    ///< the pack in which the bytes lie; null if they lie in none
  std::int64_t nanoseconds = 0;  ///< how long fetching the bytes took
};

/// How long a caller waits for the disk.
struct Patience {
  std::stop_token stop = {};
  std::chrono::milliseconds most = std::chrono::hours(24);
};

/// The state of a content that was given to be kept.
enum class KeptState : std::uint8_t {
  Waiting,  ///< not yet written
  Kept,     ///< on the disk
  Lost      ///< neither waiting nor kept: it could not be written, or was removed again
};

// What blocks are told apart by in a list: a few words of their contents.

/// A block and its first words. What is pointed to must outlive it.
struct WordedBlock {
  const StoredFacts* facts = nullptr;
  std::string_view text;  ///< empty: not known
};

/// A few words of each chain that begins among the blocks, as many as a person would read: how it begins, in
/// the order of the blocks. A chain at the beginning of a prompt often begins as all others do: it comes
/// last, and by how it ends. Empty if the words of no block are known.
std::string firstWords(std::span<const WordedBlock> blocks);

}  // namespace spanscope::cache
