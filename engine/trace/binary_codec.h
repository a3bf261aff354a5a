// SPDX-License-Identifier: GPL-3.0-or-later
// Converts values to bytes and back, by their lists of fields. Integers are LEB128, signed integers zigzag.
// Floating point numbers and the halves of keys are little endian. Strings and lists are a count and their
// content. Each value has one encoding: readers refuse a longer encoding of a number. A PackedValue has the
// bytes of a value of any type with a list of fields (engine/trace/event_fields.h). Open this file to encode
// a new type.
#pragma once

#include "engine/base/error.h"
#include "engine/base/shared.h"
#include "engine/trace/event_fields.h"

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace spanscope::trace {

/// The remaining memory for values that are read, in bytes. This budget limits the allocations that a small
/// file can cause.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : m_left(bytes) {}

  /// Throws Failure if the budget is used up.
  void take(std::uint64_t bytes) {
    if (bytes > m_left) throwExceeded(bytes);
    m_left -= bytes;
  }

 private:
  [[noreturn]] void throwExceeded(std::uint64_t bytes) const;

  std::uint64_t m_left;
};

class ByteWriter {
 public:
  std::vector<std::uint8_t>& bytes() { return m_bytes; }
  const std::vector<std::uint8_t>& bytes() const { return m_bytes; }

  void byte(std::uint8_t value) { m_bytes.push_back(value); }
  void number(std::uint64_t value) {
    while (value >= 0x80) {
      m_bytes.push_back(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    m_bytes.push_back(static_cast<std::uint8_t>(value));
  }
  void signedNumber(std::int64_t value) {
    number((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  template <class U>
  void fixed(U value) {
    for (std::size_t i = 0; i < sizeof(U); ++i)
      m_bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void text(std::string_view value) {
    number(value.size());
    m_bytes.insert(m_bytes.end(), value.begin(), value.end());
  }

 private:
  std::vector<std::uint8_t> m_bytes;
};

/// Reads values from a span, which must outlive the reader. Every function throws Failure without a file
/// name. The place of the Failure is the name of the current field.
class ByteReader {
 public:
  ByteReader(std::span<const std::uint8_t> bytes, MemoryBudget& budget)
      : m_at(bytes.data()), m_end(bytes.data() + bytes.size()), m_budget(&budget) {}

  std::size_t remaining() const { return static_cast<std::size_t>(m_end - m_at); }
  MemoryBudget& budget() { return *m_budget; }
  void setField(const char* name) { m_field = name; }
  const char* field() const { return m_field; }

  std::uint8_t byte() {
    if (m_at == m_end) throwEnd();
    return *m_at++;
  }
  std::uint64_t number() {
    if (m_at != m_end && *m_at < 0x80) return *m_at++;
    return longNumber();
  }
  std::int64_t signedNumber() {
    const std::uint64_t raw = number();
    return static_cast<std::int64_t>((raw >> 1) ^ (0 - (raw & 1)));
  }
  template <class U>
  U fixed() {
    if (remaining() < sizeof(U)) throwEnd();
    U value = 0;
    for (std::size_t i = 0; i < sizeof(U); ++i) value |= static_cast<U>(static_cast<U>(m_at[i]) << (8 * i));
    m_at += sizeof(U);
    return value;
  }
  std::string text() {
    const std::size_t size = count(1);
    m_budget->take(size);
    std::string value(reinterpret_cast<const char*>(m_at), size);
    m_at += size;
    return value;
  }
  /// Reads a count of elements that take at least `minimum` bytes each. Throws Failure if the remaining bytes
  /// are too few for this count.
  std::size_t count(std::size_t minimum) {
    const std::uint64_t value = number();
    if (value > remaining() / minimum) throwCount(value, minimum);
    return static_cast<std::size_t>(value);
  }
  [[noreturn]] void fail(std::string found, std::string expected) const;

 private:
  std::uint64_t longNumber();
  [[noreturn]] void throwEnd() const;
  [[noreturn]] void throwCount(std::uint64_t count, std::size_t minimum) const;

  const std::uint8_t* m_at;
  const std::uint8_t* m_end;
  MemoryBudget* m_budget;
  const char* m_field = "";
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
/// Whether a type is a Shared or derives from it. `Value` is the type of the content, which is written
/// instead.
template <class T>
struct IsShared : std::false_type {};
template <class T>
struct IsShared<Shared<T>> : std::true_type {
  using Value = T;
};
template <class T>
struct IsShared<SharedList<T>> : std::true_type {
  using Value = std::vector<T>;
};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class T>
struct IsMap<std::map<K, T>> : std::true_type {};

template <class T>
void writeValue(ByteWriter& writer, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    writer.byte(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<T>) {
    writer.byte(static_cast<std::uint8_t>(value));
  } else if constexpr (std::is_same_v<T, float>) {
    writer.fixed(std::bit_cast<std::uint32_t>(value));
  } else if constexpr (std::is_same_v<T, double>) {
    writer.fixed(std::bit_cast<std::uint64_t>(value));
  } else if constexpr (std::is_signed_v<T>) {
    writer.signedNumber(value);
  } else if constexpr (std::is_unsigned_v<T>) {
    writer.number(value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    writer.text(value);
  } else if constexpr (std::is_same_v<T, BlockKey>) {
    writer.fixed(value.high);
    writer.fixed(value.low);
  } else if constexpr (IsVector<T>::value) {
    writer.number(value.size());
    for (const auto& element : value) writeValue(writer, element);
  } else if constexpr (IsShared<T>::value) {
    writeValue(writer, *value);
  } else if constexpr (IsOptional<T>::value) {
    writer.byte(value ? 1 : 0);
    if (value) writeValue(writer, *value);
  } else if constexpr (IsMap<T>::value) {
    writer.number(value.size());
    for (const auto& [key, element] : value) {
      writeValue(writer, key);
      writeValue(writer, element);
    }
  } else {
    fields([&writer](const char*, const auto& member) { writeValue(writer, member); }, value);
  }
}

/// Returns the min number of bytes of a value of the type, which is the size of its default value.
template <class T>
std::size_t minimumBytes() {
  static const std::size_t kSize = [] {
    ByteWriter writer;
    writeValue(writer, T{});
    return std::max<std::size_t>(writer.bytes().size(), 1);
  }();
  return kSize;
}

template <class T>
void readValue(ByteReader& reader, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    const std::uint8_t raw = reader.byte();
    if (raw > 1) reader.fail(std::to_string(raw), "0 or 1");
    value = raw == 1;
  } else if constexpr (std::is_enum_v<T>) {
    const std::uint8_t raw = reader.byte();
    if (raw >= EnumNames<T>::kNames.size()) {
      reader.fail(std::to_string(raw), "a number below " + std::to_string(EnumNames<T>::kNames.size()));
    }
    value = static_cast<T>(raw);
  } else if constexpr (std::is_same_v<T, float>) {
    value = std::bit_cast<float>(reader.fixed<std::uint32_t>());
  } else if constexpr (std::is_same_v<T, double>) {
    value = std::bit_cast<double>(reader.fixed<std::uint64_t>());
  } else if constexpr (std::is_signed_v<T>) {
    const std::int64_t raw = reader.signedNumber();
    if (!std::in_range<T>(raw)) reader.fail(std::to_string(raw), "a number of 32 bits");
    value = static_cast<T>(raw);
  } else if constexpr (std::is_unsigned_v<T>) {
    const std::uint64_t raw = reader.number();
    if (!std::in_range<T>(raw)) reader.fail(std::to_string(raw), "a number of 32 bits");
    value = static_cast<T>(raw);
  } else if constexpr (std::is_same_v<T, std::string>) {
    value = reader.text();
  } else if constexpr (std::is_same_v<T, BlockKey>) {
    value.high = reader.fixed<std::uint64_t>();
    value.low = reader.fixed<std::uint64_t>();
  } else if constexpr (IsVector<T>::value) {
    using Element = typename T::value_type;
    const std::size_t count = reader.count(minimumBytes<Element>());
    reader.budget().take(count * sizeof(Element));
    value.clear();
    value.reserve(count);
    for (std::size_t i = 0; i < count; ++i) readValue(reader, value.emplace_back());
  } else if constexpr (IsShared<T>::value) {
    typename IsShared<T>::Value content{};
    readValue(reader, content);
    value = T(std::move(content));
  } else if constexpr (IsOptional<T>::value) {
    bool present = false;
    readValue(reader, present);
    value.reset();
    if (present) readValue(reader, value.emplace());
  } else if constexpr (IsMap<T>::value) {
    using Key = typename T::key_type;
    using Element = typename T::mapped_type;
    constexpr std::size_t kNodeBytes = 48;  // size of a tree node without its value
    const std::size_t count = reader.count(minimumBytes<Key>() + minimumBytes<Element>());
    reader.budget().take(count * (sizeof(Key) + sizeof(Element) + kNodeBytes));
    value.clear();
    for (std::size_t i = 0; i < count; ++i) {
      Key key{};
      readValue(reader, key);
      if (!value.empty() && !(value.rbegin()->first < key))
        reader.fail("keys out of order", "ascending keys");
      readValue(reader, value.emplace_hint(value.end(), std::move(key), Element{})->second);
    }
  } else {
    fields(
        [&reader](const char* name, auto& member) {
          reader.setField(name);
          readValue(reader, member);
        },
        value);
  }
}

template <class T>
PackedValue pack(const T& value) {
  ByteWriter writer;
  writeValue(writer, value);
  return {.bytes = std::string(writer.bytes().begin(), writer.bytes().end())};
}

/// Returns the value, or nothing if the bytes are damaged or of another type.
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
