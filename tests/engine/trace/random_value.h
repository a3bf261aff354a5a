// SPDX-License-Identifier: GPL-3.0-or-later
// Makes random values of any type that has a field list.
#pragma once

#include "engine/trace/binary_codec.h"

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::trace::test {

/// The range of random numbers: everything that their types hold, or small numbers that are likely to mean
/// something.
enum class Range { Whole, Small };

class RandomValue {
 public:
  explicit RandomValue(std::uint64_t seed, Range range = Range::Whole) : m_random(seed), m_range(range) {}

  std::uint64_t below(std::uint64_t end) { return m_random() % end; }

  template <class T>
  void fill(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = below(2) == 1;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(below(EnumNames<T>::kNames.size()));
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<double>(m_random()) / 1e12 - 9e6);
    } else if constexpr (std::is_integral_v<T>) {
      value = number<T>();
    } else if constexpr (std::is_same_v<T, std::string>) {
      value.resize(below(12));
      for (char& c : value) c = static_cast<char>(m_range == Range::Whole ? below(256) : 'a' + below(26));
    } else if constexpr (IsVector<T>::value) {
      value.resize(below(5));
      for (auto& element : value) fill(element);
    } else if constexpr (IsShared<T>::value) {
      typename IsShared<T>::Value content{};
      fill(content);
      value = T(std::move(content));
    } else if constexpr (IsOptional<T>::value) {
      value.reset();
      if (below(2) == 1) fill(value.emplace());
    } else if constexpr (IsMap<T>::value) {
      value.clear();
      for (std::uint64_t i = below(4); i > 0; --i) {
        typename T::key_type key{};
        fill(key);
        fill(value[key]);
      }
    } else {
      fields([this](const char*, auto& member) { fill(member); }, value);
    }
  }

  /// A random payload of the alternative with this index in the variant.
  Payload payload(std::size_t index) {
    Payload result;
    fillAlternative(result, index, std::make_index_sequence<std::variant_size_v<Payload>>());
    return result;
  }

 private:
  template <class T>
  T number() {
    if (m_range == Range::Small) return static_cast<T>(below(8)) - static_cast<T>(below(16) == 0 ? 1 : 0);
    switch (below(6)) {
      case 0:
        return std::numeric_limits<T>::min();
      case 1:
        return std::numeric_limits<T>::max();
      case 2:
        return static_cast<T>(below(300));
      default:
        return static_cast<T>(m_random() >> below(64));
    }
  }

  template <std::size_t... I>
  void fillAlternative(Payload& payload, std::size_t index, std::index_sequence<I...>) {
    (..., (I == index ? fill(payload.emplace<I>()) : void()));
  }

  std::mt19937_64 m_random;
  Range m_range;
};

}  // namespace spanscope::trace::test
