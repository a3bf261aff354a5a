// SPDX-License-Identifier: GPL-3.0-or-later
// Remembers the ids of words of one text: most words of a text are a few that come again and again.
#pragma once

#include "engine/base/hash.h"
#include "engine/base/ids.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace spanscope::text {

/// Of a fixed size: a word takes the place of another one with the same hash.
class WordCache {
 public:
  /// Longer words, and words of more ids, are not kept.
  static constexpr std::size_t kMostBytes = 22;
  static constexpr std::size_t kMostIds = 10;

  /// `textBytes`: the length of the text; at most half a megabyte is used, and less for a short text.
  explicit WordCache(std::size_t textBytes)
      : m_entries(std::bit_ceil(std::clamp<std::size_t>(textBytes / kBytesPerEntry, 1, kMostEntries))) {}

  /// A word of at most kMostBytes; empty if it is not known.
  std::span<const TokenId> find(std::string_view word) const {
    const Entry& entry = m_entries[placeOf(word)];
    if (entry.bytes != word.size() || std::memcmp(entry.word.data(), word.data(), word.size()) != 0)
      return {};
    return {entry.ids.data(), entry.count};
  }

  void keep(std::string_view word, std::span<const TokenId> ids) {
    if (word.size() > kMostBytes || ids.size() > kMostIds) return;
    Entry& entry = m_entries[placeOf(word)];
    entry.bytes = static_cast<std::uint8_t>(word.size());
    entry.count = static_cast<std::uint8_t>(ids.size());
    std::copy(word.begin(), word.end(), entry.word.begin());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  static constexpr std::size_t kBytesPerEntry = 16;
  static constexpr std::size_t kMostEntries = 8192;

  /// As large as a line of a processor's cache.
  struct Entry {
    std::uint8_t bytes = 0;  ///< 0: free
    std::uint8_t count = 0;
    std::array<char, kMostBytes> word{};
    std::array<TokenId, kMostIds> ids{};
  };
  static_assert(sizeof(Entry) == 64);

  std::size_t placeOf(std::string_view word) const { return hash64(word) & (m_entries.size() - 1); }

  std::vector<Entry> m_entries;
};

}  // namespace spanscope::text
