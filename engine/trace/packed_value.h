// SPDX-License-Identifier: GPL-3.0-or-later
// Values of any type with a list of fields (engine/trace/event_fields.h) in the bytes of a PackedValue and
// back. The bytes follow the rules of engine/trace/binary_codec.h.
#pragma once

#include "engine/base/error.h"
#include "engine/trace/binary_codec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace spanscope::trace {

template <class T>
PackedValue pack(const T& value) {
  ByteWriter writer;
  writeValue(writer, value);
  return {.bytes = std::string(writer.bytes().begin(), writer.bytes().end())};
}

/// Nothing: the bytes are of another type, or damaged.
template <class T>
std::optional<T> unpack(const PackedValue& packed) {
  constexpr std::uint64_t kMostMemory = 256ULL << 20;
  MemoryBudget budget(kMostMemory);
  ByteReader reader(
      std::span(reinterpret_cast<const std::uint8_t*>(packed.bytes->data()), packed.bytes->size()), budget);
  try {
    T value{};
    readValue(reader, value);
    return reader.remaining() == 0 ? std::optional(std::move(value)) : std::nullopt;
  } catch (const Failure&) {
    return std::nullopt;
  }
}

}  // namespace spanscope::trace
