// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/hash.h"

#include "engine/base/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace spanscope {

std::string Hash128::hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4)
      text += kDigits[(half >> static_cast<unsigned>(shift)) & 15U];
  }
  return text;
}

Hash128 hash128(std::span<const std::uint8_t> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

Hash128 hash128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

std::uint64_t hash64(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum64(std::span<const std::uint8_t> bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

std::uint64_t checksum64(std::string_view bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

struct Digest::State {
  XXH3_state_t* state = XXH3_createState();

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() { XXH3_freeState(state); }
};

Digest::Digest() : m_state(std::make_unique<State>()) {
  if (m_state->state == nullptr)
    throw Failure({.file = {}, .place = {}, .found = "no memory", .expected = "a hash state"});
  XXH3_128bits_reset(m_state->state);
}

Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  XXH3_128bits_update(m_state->state, &size, sizeof size);
  XXH3_128bits_update(m_state->state, bytes.data(), bytes.size());
}

Hash128 Digest::value() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(m_state->state);
  return {.high = hash.high64, .low = hash.low64};
}

}  // namespace spanscope
