// SPDX-License-Identifier: GPL-3.0-or-later
// Estimates the memory of a trace's values from their field lists. Code that keeps events uses the estimate
// for its memory limits. Open this file when such a limit is exceeded.
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

/// Returns the approximate bytes of a value besides its own size. Shared data (base/shared.h) counts in full
/// for each copy of the value.
template <class T>
std::uint64_t heapBytes(const T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    constexpr std::size_t kInPlace = 15;  // characters that need no heap memory
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
    constexpr std::uint64_t kNode = 32;  // bytes of a tree node besides its value
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

/// Returns the approximate bytes of an event in memory.
std::uint64_t memoryBytes(const Event& event);

}  // namespace spanscope::trace
