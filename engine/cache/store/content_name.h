// SPDX-License-Identifier: GPL-3.0-or-later
// The name of a content in the span store. The name stands for the whole identity of the content:
// fingerprint, salt, everything its segment sees with its distance, and all tokens of its chain. A name is
// made with a secret. So two contents get the same name only by a collision of HMAC-SHA-256. And a name tells
// nothing about the tokens to anybody who does not have the secret.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace spanscope::cache {

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

}  // namespace spanscope::cache
