// SPDX-License-Identifier: GPL-3.0-or-later
// The hash functions of the program: for block keys, content names, and fingerprints of files and formats.
// Open this file to hash data. Except for SHA-256 and HMAC, all functions belong to the xxHash family
// (https://github.com/Cyan4973/xxHash). These hashes are fast and well distributed, but do not resist
// deliberate collisions. A lookup by such a hash must therefore also compare the values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope {

/// 128 bits of XXH3.
struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  std::string hex() const;  ///< 32 lower-case digits, the highest first
  bool operator==(const Hash128&) const = default;
};

Hash128 hash128(std::span<const std::uint8_t> bytes);
Hash128 hash128(std::string_view bytes);

/// 64 bits of XXH3.
std::uint64_t hash64(std::string_view bytes);

/// 64 bits of XXH64, the checksum in file formats. `seed` may be the checksum of the previous bytes.
std::uint64_t checksum64(std::span<const std::uint8_t> bytes, std::uint64_t seed = 0);
std::uint64_t checksum64(std::string_view bytes, std::uint64_t seed = 0);

/// A hash of a list of values. The length of each value is hashed too. Two different lists therefore never
/// give the same bytes. Throws Failure if its memory cannot be allocated.
class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;
  Digest(Digest&&) = delete;
  Digest& operator=(Digest&&) = delete;

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  void add(const std::vector<std::uint64_t>& numbers) { add(std::as_bytes(std::span(numbers))); }
  Hash128 value() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

/// An odd number near 2^64 divided by the golden ratio. Multiples of this number are far from each other.
inline constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15U;

/// Spreads the bits of a number over all 64 bits. The function applies the increment and then the finaliser
/// of SplitMix64 (Steele, Lea and Flood 2014). The values mixBits(seed), mixBits(seed + 1), … are a sequence
/// of random numbers. Each number of the sequence can be computed directly. Nested calls combine several
/// numbers into one.
constexpr std::uint64_t mixBits(std::uint64_t value) {
  value += kGoldenGamma;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

using Sha256Value = std::array<std::uint8_t, 32>;

/// SHA-256 (FIPS 180-4) of the bytes, by OpenSSL, for names that other programs make with SHA-256. Throws
/// std::runtime_error if the library refuses, e.g. because memory is short.
Sha256Value sha256(std::span<const std::uint8_t> bytes);

// HMAC-SHA-256 (RFC 2104) by OpenSSL resists deliberate collisions. Code uses HMAC-SHA-256 to name whole
// contents. All other code uses the hashes above, which are a hundred times as fast.

/// HMAC-SHA-256 of many texts with one secret. Copies share the secret. Any thread may use a copy. Throws
/// std::runtime_error if the library refuses, e.g. because memory is short.
class Hmac {
 public:
  explicit Hmac(std::span<const std::uint8_t> secret);
  Sha256Value operator()(std::span<const std::uint8_t> bytes) const;

 private:
  struct Keyed;
  std::shared_ptr<const Keyed> m_keyed;  ///< OpenSSL's state after the secret
};

}  // namespace spanscope
