// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/access.h"

#include "engine/base/ascii.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/remote/server/connection.h"

#include <algorithm>
#include <cstdint>

namespace spanscope::server {
namespace {

Sha256Value hashOf(std::string_view text) {
  return sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

KeyRing::KeyRing(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (key.size() < kLeastKeyBytes) {
      throw Failure(errorAt("key of a client", counted(key.size(), "byte"),
                            "at least " + std::to_string(kLeastKeyBytes) + " bytes"));
    }
    // A header can contain only a key of this form.
    const bool isPlain = std::ranges::none_of(
        key, [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F; });
    if (!isPlain || trimmed(key).size() != key.size() || key.size() > kMostKeyBytes || !isValidUtf8(key)) {
      throw Failure(
          errorAt("key of a client", "a key of " + counted(key.size(), "byte"),
                  "at most " + std::to_string(kMostKeyBytes) +
                      " bytes of UTF-8 without control characters and without spaces at both ends"));
    }
    m_keys.push_back({.hash = hashOf(key), .salt = hexOf(hashOf("spanscope salt of " + key))});
  }
}

std::optional<std::string> KeyRing::saltOf(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  const bool isBearer = authorization.size() > kScheme.size() &&
                        inSmallLetters(authorization.substr(0, kScheme.size())) == kScheme;
  const Sha256Value hash =
      hashOf(isBearer ? trimmed(authorization.substr(kScheme.size())) : std::string_view());
  const Key* found = nullptr;
  for (const Key& key : m_keys) {
    unsigned difference = 0;
    for (std::size_t i = 0; i < hash.size(); ++i) difference |= unsigned{hash[i]} ^ unsigned { key.hash[i] };
    if (difference == 0) found = &key;
  }
  if (!isBearer || found == nullptr) return std::nullopt;
  return found->salt;
}

std::string combinedSalt(const std::string& ofClient, const std::string& ofRequest) {
  if (ofRequest.empty()) return ofClient;
  return hexOf(hashOf(ofClient + '\n' + ofRequest));
}

std::vector<std::string> keysIn(std::string_view text) {
  std::vector<std::string> keys;
  for (const std::string_view part : splitAt(text, '\n')) {
    const std::string_view line = trimmed(part);
    if (!line.empty() && line.front() != '#') keys.emplace_back(line);
  }
  return keys;
}

bool isLoopback(std::string_view host) {
  if (host == "localhost" || host == "::1" || host == "[::1]") return true;
  // A name may begin like a number. An address has only digits and points.
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

std::string hostIn(std::string_view hostAndPort) {
  if (hostAndPort.starts_with("[")) {
    const std::size_t end = hostAndPort.find(']');
    return inSmallLetters(hostAndPort.substr(0, end == std::string_view::npos ? end : end + 1));
  }
  return inSmallLetters(hostAndPort.substr(0, hostAndPort.find(':')));
}

bool isHostAllowed(std::string_view host, const AccessRules& rules) {
  const std::string name = hostIn(host);
  if (rules.isLoopback && isLoopback(name)) return true;
  if (!rules.isLoopback && rules.hosts.empty()) return true;
  return std::ranges::any_of(rules.hosts, [&](const std::string& known) { return hostIn(known) == name; });
}

bool isOriginAllowed(std::string_view origin, const AccessRules& rules) {
  if (origin.empty()) return true;
  return std::ranges::find(rules.origins, origin) != rules.origins.end();
}

}  // namespace spanscope::server
