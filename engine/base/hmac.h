// SPDX-License-Identifier: GPL-3.0-or-later
// HMAC-SHA-256 (RFC 2104) by OpenSSL: the hash of the program that resists somebody who searches for
// collisions. It makes names that stand for a whole content. Everything else uses the hashes of hash.h, which
// are a hundred times as fast.
#pragma once

#include "engine/base/sha256.h"

#include <cstdint>
#include <memory>
#include <span>

namespace spanscope {

/// HMAC-SHA-256 of many texts with one secret. Copies share the secret. Any thread may call it. Throws
/// std::runtime_error if the library refuses, e.g. because memory is short.
class Hmac {
 public:
  explicit Hmac(std::span<const std::uint8_t> secret);
  Sha256Value operator()(std::span<const std::uint8_t> bytes) const;

 private:
  struct Keyed;
  std::shared_ptr<const Keyed> m_keyed;  ///< OpenSSL's state after it has taken in the secret
};

}  // namespace spanscope
