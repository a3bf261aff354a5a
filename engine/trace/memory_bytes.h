// SPDX-License-Identifier: GPL-3.0-or-later
// How much memory values of a trace take, from their field lists: what keeps events stays within bounds by
// it.
#pragma once

#include "engine/base/shared.h"
#include "engine/trace/binary_codec.h"
#include "engine/trace/event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace spanscope::trace {

/// About how many bytes a value takes besides its own size. What copies of it share is counted in full.
template <class T>
std::uint64_t heapBytes(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    constexpr std::size_t kInPlace = 15;  // characters that need no memory of their own
    return value.capacity() > kInPlace ? value.capacity() + 1 : 0;
  } else if constexpr (IsVector<T>::value) {
    std::uint64_t bytes = value.capacity() * sizeof(typename T::value_type);
    if constexpr (!std::is_trivially_copyable_v<typename T::value_type>) {
      for (const auto& element : value) bytes += heapBytes(element);
    }
    return bytes;
  } else if constexpr (IsShared<T>::value) {
    return sizeof(*value) + heapBytes(*value);
  } else if constexpr (IsOptional<T>::value) {
    return value ? heapBytes(*value) : 0;
  } else if constexpr (IsMap<T>::value) {
    constexpr std::uint64_t kNode = 32;  // what a tree node takes besides its value
    std::uint64_t bytes = 0;
    for (const auto& [key, element] : value) {
      bytes += kNode + sizeof(key) + sizeof(element) + heapBytes(key) + heapBytes(element);
    }
    return bytes;
  } else {
    std::uint64_t bytes = 0;
    fields([&bytes](const char*, const auto& member) { bytes += heapBytes(member); }, value);
    return bytes;
  }
}

/// About how many bytes an event takes in memory.
std::uint64_t memoryBytes(const Event& event);

}  // namespace spanscope::trace
