// SPDX-License-Identifier: GPL-3.0-or-later
// Decides who may use the server: keys, and the protection against pages in a browser. Open this file when a
// client is refused.
#pragma once

#include "engine/base/hash.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server {

/// The keys of clients. Only hashes of keys are stored, so no key can get into a log or a trace.
class KeyRing {
 public:
  /// `keys`: each key has kLeastKeyBytes to kMostKeyBytes bytes of UTF-8, no control characters and no spaces
  /// at both ends. Throws Failure for other keys, without the key.
  explicit KeyRing(const std::vector<std::string>& keys);

  static constexpr std::size_t kLeastKeyBytes = 16;
  static constexpr std::size_t kMostKeyBytes = 4096;

  bool isEmpty() const { return m_keys.empty(); }
  /// Returns the salt of the client that sends this Authorization header. With this salt, a client gets no
  /// hits from contents of other clients. Nothing: the key is unknown. The duration of the check does not
  /// depend on the keys.
  std::optional<std::string> saltOf(std::string_view authorization) const;

 private:
  struct Key {
    Sha256Value hash;
    std::string salt;
  };
  std::vector<Key> m_keys;
};

/// Combines the request's own salt (vLLM's `cache_salt`) with the client's salt.
std::string combinedSalt(const std::string& ofClient, const std::string& ofRequest);

/// Returns the lines of a key file without spaces at their ends. Empty lines and lines that begin with # are
/// left out.
std::vector<std::string> keysIn(std::string_view text);

/// Whether only this machine can reach an address: 127.0.0.0/8, ::1, localhost.
bool isLoopback(std::string_view host);
/// Returns the host of "name:8000", "[::1]:8000" or "name", in lower case.
std::string hostIn(std::string_view hostAndPort);

struct AccessRules {
  bool isLoopback = true;            ///< whether the server listens on the loopback
  std::vector<std::string> hosts;    ///< further names of the server, besides the loopback names
  std::vector<std::string> origins;  ///< origins of pages that may use the server: "https://app.example"
};

/// Whether a request to this Host is meant for the server. On the loopback, a page with DNS rebinding sends
/// another name. On other addresses, the client's key decides, unless `hosts` has names.
bool isHostAllowed(std::string_view host, const AccessRules& rules);
/// Whether a page of this origin may use the server. An empty origin means no page.
bool isOriginAllowed(std::string_view origin, const AccessRules& rules);

}  // namespace spanscope::server
