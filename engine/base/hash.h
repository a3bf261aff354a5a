// SPDX-License-Identifier: GPL-3.0-or-later
// The hashes of the program: keys of blocks, names of contents, fingerprints of files and formats. All are of
// the xxHash family (https://github.com/Cyan4973/xxHash): quick, well spread, and no protection against those
// who look for collisions, so what is found by a hash is compared as well.
#pragma once

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

/// 64 bits of XXH64, which file formats store. `seed` may be the sum of what stands before.
std::uint64_t checksum64(std::span<const std::uint8_t> bytes, std::uint64_t seed = 0);
std::uint64_t checksum64(std::string_view bytes, std::uint64_t seed = 0);

/// A hash over facts, each with its length, so that no two lists of facts look alike. Throws Failure where
/// memory for it cannot be had.
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

/// 2^64 divided by the golden ratio, odd: multiples of it are far from each other.
inline constexpr std::uint64_t kGoldenGamma = 0x9E3779B97F4A7C15U;

/// Spreads the bits of a number over all 64: the finaliser of SplitMix64 (Steele, Lea and Flood 2014), after
/// its increment. mixBits(seed), mixBits(seed + 1), … is a sequence of random numbers any of which can be had
/// at once; nested, it joins several numbers to one.
constexpr std::uint64_t mixBits(std::uint64_t value) {
  value += kGoldenGamma;
  value = (value ^ (value >> 30U)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27U)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31U);
}

}  // namespace spanscope
