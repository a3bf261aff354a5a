// SPDX-License-Identifier: GPL-3.0-or-later
// Who may use a server: keys, and what keeps pages in a browser away.
#pragma once

#include "engine/base/hash.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server {

/// Keys of clients. Only their hashes are kept, so that no key can get into a log or a trace.
class KeyRing {
 public:
  /// `keys`: each of kLeastKeyBytes to kMostKeyBytes bytes of UTF-8, without control characters and without
  /// blanks around them. Throws Failure for any other, without naming it.
  explicit KeyRing(const std::vector<std::string>& keys);

  static constexpr std::size_t kLeastKeyBytes = 16;
  static constexpr std::size_t kMostKeyBytes = 4096;

  bool isEmpty() const { return m_keys.empty(); }
  /// The salt of the client that sends this Authorization header: what another client computed is not found
  /// under it. Nothing: it has no such key. The time that this takes does not depend on the keys.
  std::optional<std::string> saltOf(std::string_view authorization) const;

 private:
  struct Key {
    Sha256Value hash;
    std::string salt;
  };
  std::vector<Key> m_keys;
};

/// The salt of a request that has one of its own (vLLM's `cache_salt`) besides that of its client.
std::string combinedSalt(const std::string& ofClient, const std::string& ofRequest);

/// The lines of a key file, without blanks around them, empty lines and lines that begin with #.
std::vector<std::string> keysIn(std::string_view text);

/// Whether an address is one that only this machine reaches: 127.0.0.0/8, ::1, localhost.
bool isLoopback(std::string_view host);
/// The host of "name:8000", "[::1]:8000" or "name", in small letters.
std::string hostIn(std::string_view hostAndPort);

struct AccessRules {
  bool isLoopback = true;            ///< where the server listens
  std::vector<std::string> hosts;    ///< names, besides those of the loopback, under which it is known
  std::vector<std::string> origins;  ///< of pages that may use it: "https://app.example"
};

/// Whether a request to this Host is meant for the server. On the loopback, a page whose name was made to
/// point there (DNS rebinding) sends another name. Elsewhere keys decide, unless hosts are given.
bool isHostAllowed(std::string_view host, const AccessRules& rules);
/// Whether a page of this origin may use the server. No header (an empty text) means no page.
bool isOriginAllowed(std::string_view origin, const AccessRules& rules);

}  // namespace spanscope::server
