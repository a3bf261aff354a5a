// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/cache/block_key.h"

#include "engine/base/hash.h"

#include <vector>

namespace spanscope::cache {

namespace {

/// Collects the bytes to hash, in little-endian order on every machine. The length precedes every value of
/// variable size. Different contents therefore never give the same bytes.
class Bytes {
 public:
  explicit Bytes(std::uint8_t kind, std::size_t expectedSize) {
    m_bytes.reserve(expectedSize);
    m_bytes.push_back(kind);
  }

  void number(std::uint64_t value, int bytes) {
    for (int index = 0; index < bytes; ++index) {
      m_bytes.push_back(static_cast<std::uint8_t>(value >> (8 * index)));
    }
  }
  void key(const trace::BlockKey& key) {
    number(key.high, 8);
    number(key.low, 8);
  }
  void text(std::string_view text) {
    number(text.size(), 8);
    for (const char character : text) m_bytes.push_back(static_cast<std::uint8_t>(character));
  }

  std::span<const std::uint8_t> all() const { return m_bytes; }

 private:
  std::vector<std::uint8_t> m_bytes;
};

constexpr std::uint8_t kRootKind = 'r';
constexpr std::uint8_t kBlockKind = 'b';

}  // namespace

trace::BlockKey xxh3Key(std::span<const std::uint8_t> bytes) {
  const Hash128 hash = hash128(bytes);
  return {hash.high, hash.low};
}

trace::BlockKey rootKey(KeyHash hash, std::string_view fingerprint, std::string_view salt,
                        std::span<const SeenKey> seen, std::int64_t fixedBase) {
  Bytes bytes(kRootKind, 32 + fingerprint.size() + salt.size() + 28 * seen.size());
  bytes.text(fingerprint);
  bytes.text(salt);
  bytes.number(seen.size(), 8);
  for (const SeenKey& entry : seen) {
    bytes.key(entry.end);
    bytes.number(static_cast<std::uint64_t>(entry.distance), 8);
    bytes.number(static_cast<std::uint32_t>(entry.visibleBegin), 4);
  }
  if (fixedBase != 0) bytes.number(static_cast<std::uint64_t>(fixedBase), 8);
  return hash(bytes.all());
}

trace::BlockKey blockKey(KeyHash hash, const trace::BlockKey& parent, std::span<const TokenId> tokens) {
  Bytes bytes(kBlockKind, 32 + 4 * tokens.size());
  bytes.key(parent);
  bytes.number(tokens.size(), 4);
  for (const TokenId token : tokens) bytes.number(static_cast<std::uint32_t>(token), 4);
  return hash(bytes.all());
}

}  // namespace spanscope::cache
