// SPDX-License-Identifier: GPL-3.0-or-later
// A hash map from numbers to small values in one array. Tokenizers look up a pair of ids several times for
// each byte of a text; a node for each entry, as in std::unordered_map, would cost them most of their time.
#pragma once

#include "engine/base/hash.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace spanscope::text {

template <class Value>
class FlatMap {
 public:
  /// Stands for a free place: the one number that is no key.
  static constexpr std::uint64_t kFree = std::numeric_limits<std::uint64_t>::max();

  std::size_t size() const { return m_size; }

  /// Makes room for so many entries in all.
  void reserve(std::size_t entries) {
    const std::size_t places = std::bit_ceil(std::max<std::size_t>(kLeastPlaces, entries * 2));
    if (places > m_places.size()) spread(places);
  }

  /// Replaces what the key had.
  void set(std::uint64_t key, const Value& value) {
    reserve(m_size + 1);
    Place& place = m_places[placeOf(key)];
    if (place.key == kFree) ++m_size;
    place = {key, value};
  }

  /// Null if there is no entry. Valid until the next set().
  const Value* find(std::uint64_t key) const {
    if (m_size == 0) return nullptr;
    const Place& place = m_places[placeOf(key)];
    return place.key == kFree ? nullptr : &place.value;
  }
  bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  /// Calls `take` with key and value of each entry, in no particular order.
  template <class Take>
  void forEach(const Take& take) const {
    for (const Place& place : m_places) {
      if (place.key != kFree) take(place.key, place.value);
    }
  }

 private:
  struct Place {
    std::uint64_t key = kFree;
    Value value{};
  };
  static constexpr std::size_t kLeastPlaces = 16;

  /// Where the key is, or the free place for it. At least half of the places are free.
  std::size_t placeOf(std::uint64_t key) const {
    const std::size_t mask = m_places.size() - 1;
    std::size_t place = static_cast<std::size_t>((key * kGoldenGamma) >> m_shift);
    while (m_places[place].key != key && m_places[place].key != kFree) place = (place + 1) & mask;
    return place;
  }

  void spread(std::size_t places) {
    std::vector<Place> before(places);
    before.swap(m_places);
    m_shift = static_cast<unsigned>(std::countl_zero(places)) + 1;
    for (const Place& place : before) {
      if (place.key != kFree) m_places[placeOf(place.key)] = place;
    }
  }

  std::vector<Place> m_places;  ///< as many as a power of two
  std::size_t m_size = 0;
  unsigned m_shift = 0;
};

}  // namespace spanscope::text
