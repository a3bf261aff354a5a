// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/sha256.h"

#include <algorithm>
#include <bit>

namespace spanscope {
namespace {

constexpr std::size_t kBlock = 64;

constexpr std::array<std::uint32_t, 64> kRounds{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t bigEndian(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24U | std::uint32_t{bytes[1]} << 16U | std::uint32_t{bytes[2]} << 8U |
         std::uint32_t{bytes[3]};
}

}  // namespace

void Sha256::addBlock(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> words{};
  for (std::size_t i = 0; i < 16; ++i) words[i] = bigEndian(block + 4 * i);
  for (std::size_t i = 16; i < words.size(); ++i) {
    const std::uint32_t a = words[i - 15];
    const std::uint32_t b = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3U) + words[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10U);
  }
  auto [a, b, c, d, e, f, g, h] = m_state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                              ((e & f) ^ (~e & g)) + kRounds[i] + words[i];
    const std::uint32_t two =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + one;
    d = c;
    c = b;
    b = a;
    a = one + two;
  }
  const std::array<std::uint32_t, 8> sums{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < sums.size(); ++i) m_state[i] += sums[i];
}

void Sha256::add(std::span<const std::uint8_t> bytes) {
  m_size += bytes.size();
  while (!bytes.empty()) {
    if (m_restSize == 0 && bytes.size() >= kBlock) {
      addBlock(bytes.data());
      bytes = bytes.subspan(kBlock);
      continue;
    }
    const std::size_t taken = std::min(kBlock - m_restSize, bytes.size());
    std::copy_n(bytes.begin(), taken, m_rest.begin() + static_cast<std::ptrdiff_t>(m_restSize));
    m_restSize += taken;
    bytes = bytes.subspan(taken);
    if (m_restSize < kBlock) return;
    addBlock(m_rest.data());
    m_restSize = 0;
  }
}

Sha256Value Sha256::finish() {
  constexpr std::size_t kSizeBytes = 8;
  const std::uint64_t bits = m_size * 8;
  std::array<std::uint8_t, 2 * kBlock> end{0x80};
  const std::size_t zeros = (2 * kBlock - 1 - kSizeBytes - m_restSize) % kBlock;
  const std::size_t size = 1 + zeros + kSizeBytes;
  for (std::size_t i = 0; i < kSizeBytes; ++i) end[size - 1 - i] = static_cast<std::uint8_t>(bits >> (8 * i));
  add(std::span(end).first(size));
  Sha256Value value{};
  for (std::size_t i = 0; i < value.size(); ++i)
    value[i] = static_cast<std::uint8_t>(m_state[i / 4] >> (24 - 8 * (i % 4)));
  return value;
}

Hmac::Hmac(std::span<const std::uint8_t> secret) {
  std::array<std::uint8_t, kBlock> key{};
  if (secret.size() > kBlock) {
    Sha256 hash;
    hash.add(secret);
    const Sha256Value value = hash.finish();
    std::copy(value.begin(), value.end(), key.begin());
  } else {
    std::copy(secret.begin(), secret.end(), key.begin());
  }
  std::array<std::uint8_t, kBlock> inner{};
  std::array<std::uint8_t, kBlock> outer{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    inner[i] = key[i] ^ 0x36U;
    outer[i] = key[i] ^ 0x5cU;
  }
  m_inner.add(inner);
  m_outer.add(outer);
}

Sha256Value Hmac::operator()(std::span<const std::uint8_t> bytes) const {
  Sha256 inner = m_inner;
  inner.add(bytes);
  const Sha256Value value = inner.finish();
  Sha256 outer = m_outer;
  outer.add(value);
  return outer.finish();
}

}  // namespace spanscope
