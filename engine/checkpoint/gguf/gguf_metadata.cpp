// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/gguf/gguf_metadata.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/mapped_file.h"

#include <bit>
#include <optional>
#include <string_view>
#include <utility>

namespace spanscope::checkpoint {

namespace {

constexpr std::string_view kTokenizerPrefix = "tokenizer.";
constexpr std::uint64_t kMaxKeys = 65536;
constexpr std::uint64_t kMaxKeyBytes = 65535;  // Limits of the format.
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{4} << 20U;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 22U;
constexpr std::uint64_t kMaxSkipped = std::uint64_t{1} << 28U;
constexpr int kMaxNestedLists = 4;

/// The types of the format by their numbers.
enum class Type : std::uint32_t {
  Uint8,
  Int8,
  Uint16,
  Int16,
  Uint32,
  Int32,
  Float32,
  Bool,
  Text,
  List,
  Uint64,
  Int64,
  Float64
};

/// Bytes of a number or truth value; 0 for the others.
std::uint64_t widthOf(Type type) {
  switch (type) {
    case Type::Uint8:
    case Type::Int8:
    case Type::Bool:
      return 1;
    case Type::Uint16:
    case Type::Int16:
      return 2;
    case Type::Uint32:
    case Type::Int32:
    case Type::Float32:
      return 4;
    case Type::Uint64:
    case Type::Int64:
    case Type::Float64:
      return 8;
    case Type::Text:
    case Type::List:
      break;
  }
  return 0;
}

/// Reads the values of keys.
class ValueReader {
 public:
  explicit ValueReader(GgufReader& reader) : m_reader(reader) {}

  Type type() {
    const std::uint64_t number = m_reader.integer(4);
    if (number > static_cast<std::uint64_t>(Type::Float64)) {
      throw m_reader.fail("a value of the type " + std::to_string(number), "a type from 0 to 12");
    }
    return static_cast<Type>(number);
  }

  /// Nothing for lists of lists, which are skipped unless they are `required`.
  std::optional<GgufValue> value(Type type, bool required) {
    switch (type) {
      case Type::Text:
        return m_reader.text(kMaxTextBytes);
      case Type::List:
        return list(required);
      case Type::Bool:
        return m_reader.integer(1) != 0;
      case Type::Float32:
      case Type::Float64:
        return number(type);
      default:
        return wholeNumber(type);
    }
  }

 private:
  std::int64_t wholeNumber(Type type) {
    const std::uint64_t width = widthOf(type);
    const std::uint64_t bits = m_reader.integer(width);
    const bool isSigned = type == Type::Int8 || type == Type::Int16 || type == Type::Int32;
    if (!isSigned) return static_cast<std::int64_t>(bits);
    const unsigned unused = 64U - 8U * static_cast<unsigned>(width);
    return static_cast<std::int64_t>(bits << unused) >> unused;
  }

  double number(Type type) {
    const std::uint64_t bits = m_reader.integer(widthOf(type));
    if (type == Type::Float64) return std::bit_cast<double>(bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }

  /// Elements take at least `width` bytes each. A wrong count is therefore found before memory is allocated.
  std::uint64_t count(std::uint64_t width, std::uint64_t limit) {
    const std::uint64_t elements = m_reader.integer(8);
    if (elements > limit)
      throw m_reader.fail(std::to_string(elements) + " elements", "at most " + std::to_string(limit));
    m_reader.requireLeft(elements * width);
    return elements;
  }

  std::optional<GgufValue> list(bool required) {
    const Type element = type();
    if (element == Type::List) {
      if (required) throw m_reader.fail("a list of lists", "a list of texts or numbers");
      skipElements(element, 0);
      return std::nullopt;
    }
    const std::uint64_t elements = count(element == Type::Text ? 8 : widthOf(element), kMaxElements);
    if (element == Type::Text) {
      std::vector<std::string> texts;
      texts.reserve(static_cast<std::size_t>(elements));
      for (std::uint64_t i = 0; i < elements; ++i) texts.push_back(m_reader.text(kMaxTextBytes));
      return texts;
    }
    if (element == Type::Float32 || element == Type::Float64) {
      std::vector<double> numbers(static_cast<std::size_t>(elements));
      for (double& entry : numbers) entry = number(element);
      return numbers;
    }
    std::vector<std::int64_t> integers(static_cast<std::size_t>(elements));
    for (std::int64_t& entry : integers) entry = wholeNumber(element);
    return integers;
  }

  void skipElements(Type element, int depth) {
    if (depth == kMaxNestedLists)
      throw m_reader.fail("a list within " + std::to_string(depth) + " others", "fewer nested lists");
    const std::uint64_t width = widthOf(element);
    // Every element but a list takes 8 bytes or its width; an empty list takes 12.
    const std::uint64_t elements = count(width > 0 ? width : 8, kMaxSkipped);
    if (width > 0) return m_reader.skip(elements * width);
    for (std::uint64_t i = 0; i < elements; ++i) {
      if (element == Type::Text) {
        m_reader.skip(m_reader.integer(8));
      } else {
        skipElements(type(), depth + 1);
      }
    }
  }

  GgufReader& m_reader;
};

}  // namespace

GgufHead readGgufHead(GgufReader& reader) {
  constexpr std::uint64_t kMagic = 0x46554747;  // "GGUF"
  if (reader.integer(4) != kMagic) throw reader.fail("other bytes", "\"GGUF\"");
  const std::uint64_t version = reader.integer(4);
  if (version != 2 && version != 3) {
    throw reader.fail("the version " + std::to_string(version), "the version 2 or 3, little-endian");
  }
  GgufHead head;
  head.tensors = reader.integer(8);
  head.keys = reader.integer(8);
  if (head.keys > kMaxKeys)
    throw reader.fail(std::to_string(head.keys) + " keys", "at most " + std::to_string(kMaxKeys));
  return head;
}

GgufMetadata GgufMetadata::read(GgufReader& reader, std::uint64_t keys, const std::string& file) {
  GgufMetadata metadata;
  metadata.m_file = file;
  ValueReader values(reader);
  for (std::uint64_t i = 0; i < keys; ++i) {
    reader.setSubject("");
    const std::string key = reader.text(kMaxKeyBytes);
    reader.setSubject(toValidUtf8(std::string_view(key).substr(0, 100)));
    const Type type = values.type();
    std::optional<GgufValue> value = values.value(type, std::string_view(key).starts_with(kTokenizerPrefix));
    if (value && !metadata.m_values.emplace(key, std::move(*value)).second)
      throw reader.fail("the key for the second time", "every key once");
  }
  reader.setSubject("");
  return metadata;
}

GgufMetadata GgufMetadata::parse(std::span<const std::byte> bytes, const std::string& file) {
  GgufReader reader(bytes, file);
  const GgufHead head = readGgufHead(reader);
  return read(reader, head.keys, file);
}

GgufMetadata GgufMetadata::read(const std::filesystem::path& path) {
  return MappedFile(path).read([&](std::span<const std::byte> bytes) { return parse(bytes, path.string()); });
}

void GgufMetadata::failType(const std::string& key, const char* expected) const {
  throw Failure({m_file, key, "a value of another type", expected});
}

namespace {

constexpr std::uint64_t kMaxHeaderBytes = std::uint64_t{256} << 20U;

}  // namespace

Failure GgufReader::fail(std::string found, std::string expected) const {
  const std::string byte = "byte " + std::to_string(m_position);
  return Failure(
      {*m_file, m_subject.empty() ? byte : m_subject + ", " + byte, std::move(found), std::move(expected)});
}

std::uint64_t GgufReader::integer(std::uint64_t width) {
  requireLeft(width);
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < width; ++i)
    value |= std::to_integer<std::uint64_t>(m_bytes[m_position + i]) << (8 * i);
  m_position += width;
  return value;
}

std::string GgufReader::text(std::uint64_t limit) {
  const std::uint64_t length = integer(8);
  if (length > limit) {
    throw fail("a text of " + std::to_string(length) + " bytes",
               "at most " + std::to_string(limit) + " bytes");
  }
  requireLeft(length);
  std::string text(reinterpret_cast<const char*>(m_bytes.data() + m_position), length);
  m_position += length;
  return text;
}

void GgufReader::skip(std::uint64_t bytes) {
  requireLeft(bytes);
  m_position += bytes;
}

void GgufReader::requireLeft(std::uint64_t bytes) const {
  if (bytes > left()) {
    throw fail("the end of the file after " + counted(left(), "byte"), counted(bytes, "byte") + " or more");
  }
  if (m_position + bytes > kMaxHeaderBytes)
    throw fail("a header of more than " + std::to_string(kMaxHeaderBytes) + " bytes", "a shorter one");
}

}  // namespace spanscope::checkpoint
