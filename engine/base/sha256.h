// SPDX-License-Identifier: GPL-3.0-or-later
// The one hash of the program that holds against those who look for collisions: SHA-256 (FIPS 180-4), and
// with a secret HMAC-SHA-256 (RFC 2104). For names that stand for what they are made of; everything else is
// hashed as hash.h does, a hundred times as fast.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace spanscope {

using Sha256Value = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  void add(std::span<const std::uint8_t> bytes);
  /// Of all that was added; nothing can be added any more.
  Sha256Value finish();

 private:
  void addBlock(const std::uint8_t* block);

  std::array<std::uint32_t, 8> m_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> m_rest{};
  std::size_t m_restSize = 0;
  std::uint64_t m_size = 0;
};

/// HMAC-SHA-256 of many texts with one secret.
class Hmac {
 public:
  explicit Hmac(std::span<const std::uint8_t> secret);
  Sha256Value operator()(std::span<const std::uint8_t> bytes) const;

 private:
  Sha256 m_inner;  ///< after the secret
  Sha256 m_outer;
};

}  // namespace spanscope
