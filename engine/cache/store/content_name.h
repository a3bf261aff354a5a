// SPDX-License-Identifier: GPL-3.0-or-later
// The name under which a content lies in the span store. It stands for the whole identity of the content:
// fingerprint, salt, everything its segment sees with its distance, and all tokens of its chain. Names are
// made with a secret, so that two contents with one name would be a collision of HMAC-SHA-256, and a name
// says nothing of the tokens to whoever has not got the secret.
#pragma once

#include "engine/base/ids.h"
#include "engine/base/hmac.h"

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

/// One entry of the list of what a segment sees, by name.
struct SeenName {
  ContentName end;                ///< of the seen segment's last block or tail
  std::int64_t distance = 0;      ///< seer's base − seen one's base, in tokens
  std::int32_t visibleBegin = 0;  ///< first visible local token
};

class ContentNaming {
 public:
  explicit ContentNaming(std::span<const std::uint8_t> secret) : m_hmac(secret) {}

  /// Of the root of a chain.
  ContentName root(std::string_view fingerprint, std::string_view salt, std::span<const SeenName> seen) const;
  /// Of a block or tail with these tokens after `parent`.
  ContentName block(const ContentName& parent, std::span<const TokenId> tokens) const;

 private:
  Hmac m_hmac;
};

}  // namespace spanscope::cache
