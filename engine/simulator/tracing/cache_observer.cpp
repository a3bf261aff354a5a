// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/simulator/tracing/cache_observer.h"

#include "engine/base/hash.h"

namespace spanscope::simulator {
namespace {

trace::BlockKey keyOf(const Hash128& hash) {
  return {.high = hash.high, .low = hash.low};
}

}  // namespace

trace::BlockKey rootKey(std::string_view name) {
  return keyOf(hash128(name));
}

std::vector<trace::BlockKey> chainKeys(const trace::BlockKey& root, std::span<const TokenId> tokens,
                                       std::size_t blockSize) {
  std::vector<trace::BlockKey> keys;
  keys.reserve(tokens.size() / blockSize);
  std::vector<std::uint64_t> facts;
  for (trace::BlockKey parent = root; (keys.size() + 1) * blockSize <= tokens.size(); parent = keys.back()) {
    facts.assign({parent.high, parent.low});
    for (const TokenId token : tokens.subspan(keys.size() * blockSize, blockSize))
      facts.push_back(static_cast<std::uint64_t>(token));
    const auto bytes = std::as_bytes(std::span(facts));
    keys.push_back(
        keyOf(hash128(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()))));
  }
  return keys;
}

BlockId BlockNumbers::take() {
  if (m_free.empty()) return m_next++;
  const BlockId block = m_free.back();
  m_free.pop_back();
  return block;
}

}  // namespace spanscope::simulator
