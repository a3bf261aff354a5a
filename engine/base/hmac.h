// SPDX-License-Identifier: GPL-3.0-or-later
// The one hash of the program that holds against those who look for collisions: HMAC-SHA-256 (RFC 2104), by
// OpenSSL. For names that stand for what they are made of; everything else is hashed as hash.h does, a
// hundred times as fast.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

namespace spanscope {

using Sha256Value = std::array<std::uint8_t, 32>;

/// HMAC-SHA-256 of many texts with one secret. Copies share the secret; any thread may ask. Throws
/// std::runtime_error where the library refuses, e.g. for want of memory.
class Hmac {
 public:
  explicit Hmac(std::span<const std::uint8_t> secret);
  Sha256Value operator()(std::span<const std::uint8_t> bytes) const;

 private:
  struct Keyed;
  std::shared_ptr<const Keyed> m_keyed;  ///< after the secret
};

}  // namespace spanscope
