// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/gguf_metadata.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"

#include <array>
#include <bit>
#include <fstream>
#include <string_view>
#include <system_error>

namespace spanscope::checkpoint {
namespace {

constexpr std::string_view kPrefix = "tokenizer.";
constexpr std::uint64_t kMaxKeys = 65536;
constexpr std::uint64_t kMaxKeyBytes = 65535;  // What the format allows.
constexpr std::uint64_t kMaxTextBytes = std::uint64_t{4} << 20U;
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 22U;
constexpr std::uint64_t kMaxTotalBytes = std::uint64_t{256} << 20U;
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

class Reader {
 public:
  Reader(std::istream& stream, std::uint64_t size, const std::string& file)
      : m_stream(&stream), m_size(size), m_file(&file) {}

  Failure fail(std::string found, std::string expected) const {
    const std::string byte = "byte " + std::to_string(m_position);
    return Failure(
        {*m_file, m_key.empty() ? byte : m_key + ", " + byte, std::move(found), std::move(expected)});
  }

  void setKey(std::string key) { m_key = std::move(key); }

  std::uint64_t integer(std::uint64_t width) {
    std::array<char, 8> bytes{};
    read(bytes.data(), width);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    }
    return value;
  }

  std::string text(std::uint64_t limit) {
    const std::uint64_t length = integer(8);
    if (length > limit) {
      throw fail("a text of " + std::to_string(length) + " bytes",
                 "at most " + std::to_string(limit) + " bytes");
    }
    requireLeft(length);
    std::string bytes(static_cast<std::size_t>(length), '\0');
    read(bytes.data(), length);
    return bytes;
  }

  Type type() {
    const std::uint64_t number = integer(4);
    if (number > static_cast<std::uint64_t>(Type::Float64)) {
      throw fail("a value of the type " + std::to_string(number), "a type from 0 to 12");
    }
    return static_cast<Type>(number);
  }

  GgufValue value(Type type) {
    switch (type) {
      case Type::Text:
        return text(kMaxTextBytes);
      case Type::List:
        return list();
      case Type::Bool:
        return integer(1) != 0;
      case Type::Float32:
      case Type::Float64:
        return number(type);
      default:
        return wholeNumber(type);
    }
  }

  void skip(Type type, int depth = 0) {
    if (type == Type::Text) {
      skipBytes(integer(8));
    } else if (type == Type::List) {
      skipList(depth);
    } else {
      skipBytes(widthOf(type));
    }
  }

 private:
  std::int64_t wholeNumber(Type type) {
    const std::uint64_t width = widthOf(type);
    const std::uint64_t bits = integer(width);
    const bool isSigned = type == Type::Int8 || type == Type::Int16 || type == Type::Int32;
    if (!isSigned) return static_cast<std::int64_t>(bits);
    const unsigned unused = 64U - 8U * static_cast<unsigned>(width);
    return static_cast<std::int64_t>(bits << unused) >> unused;
  }

  double number(Type type) {
    const std::uint64_t bits = integer(widthOf(type));
    if (type == Type::Float64) return std::bit_cast<double>(bits);
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }

  /// Elements take at least `width` bytes each, so that a false count is found before anything is allocated.
  std::uint64_t count(std::uint64_t width, std::uint64_t limit) {
    const std::uint64_t elements = integer(8);
    if (elements > limit) {
      throw fail(std::to_string(elements) + " elements", "at most " + std::to_string(limit));
    }
    requireLeft(elements * width);
    return elements;
  }

  GgufValue list() {
    const Type element = type();
    if (element == Type::List) throw fail("a list of lists", "a list of texts or numbers");
    const std::uint64_t elements = count(element == Type::Text ? 8 : widthOf(element), kMaxElements);
    if (element == Type::Text) {
      std::vector<std::string> texts;
      texts.reserve(static_cast<std::size_t>(elements));
      for (std::uint64_t i = 0; i < elements; ++i) texts.push_back(text(kMaxTextBytes));
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

  void skipList(int depth) {
    if (depth == kMaxNestedLists) {
      throw fail("a list within " + std::to_string(depth) + " others", "fewer nested lists");
    }
    const Type element = type();
    const std::uint64_t width = widthOf(element);
    // Every element but a list takes 8 bytes or its width; an empty list takes 12.
    const std::uint64_t elements = count(width > 0 ? width : 8, m_size);
    if (width > 0) return skipBytes(elements * width);
    for (std::uint64_t i = 0; i < elements; ++i) skip(element, depth + 1);
  }

  void requireLeft(std::uint64_t bytes) const {
    if (bytes > m_size - m_position) {
      throw fail("the end of the file after " + counted(m_size - m_position, "byte"),
                 counted(bytes, "byte") + " or more");
    }
    if (bytes > kMaxTotalBytes || m_position + bytes > kMaxTotalBytes) {
      throw fail("key/values of more than " + std::to_string(kMaxTotalBytes) + " bytes", "fewer");
    }
  }

  void read(char* into, std::uint64_t bytes) {
    requireLeft(bytes);
    m_stream->read(into, static_cast<std::streamsize>(bytes));
    if (static_cast<std::uint64_t>(m_stream->gcount()) != bytes) {
      throw fail("a file that cannot be read further", counted(bytes, "byte") + " or more");
    }
    m_position += bytes;
  }

  void skipBytes(std::uint64_t bytes) {
    requireLeft(bytes);
    m_stream->ignore(static_cast<std::streamsize>(bytes));
    if (static_cast<std::uint64_t>(m_stream->gcount()) != bytes) {
      throw fail("a file that cannot be read further", counted(bytes, "byte") + " or more");
    }
    m_position += bytes;
  }

  std::istream* m_stream;
  std::uint64_t m_size;
  std::uint64_t m_position = 0;
  const std::string* m_file;
  std::string m_key;
};

std::uint64_t readHeader(Reader& reader) {
  constexpr std::uint64_t kMagic = 0x46554747;  // "GGUF"
  if (reader.integer(4) != kMagic) throw reader.fail("other bytes", "\"GGUF\"");
  const std::uint64_t version = reader.integer(4);
  if (version != 2 && version != 3) {
    throw reader.fail("the version " + std::to_string(version), "the version 2 or 3, little-endian");
  }
  reader.integer(8);  // Number of tensors.
  const std::uint64_t keys = reader.integer(8);
  if (keys > kMaxKeys) {
    throw reader.fail(std::to_string(keys) + " keys", "at most " + std::to_string(kMaxKeys));
  }
  return keys;
}

}  // namespace

GgufMetadata GgufMetadata::read(std::istream& stream, std::uint64_t size, const std::string& file) {
  GgufMetadata metadata;
  metadata.m_file = file;
  Reader reader(stream, size, file);
  const std::uint64_t keys = readHeader(reader);
  for (std::uint64_t i = 0; i < keys; ++i) {
    reader.setKey("");
    const std::string key = reader.text(kMaxKeyBytes);
    const std::string shown = toValidUtf8(std::string_view(key).substr(0, 100));
    reader.setKey(shown);
    const Type type = reader.type();
    if (std::string_view(key).substr(0, kPrefix.size()) != kPrefix) {
      reader.skip(type);
    } else if (!metadata.m_values.emplace(key, reader.value(type)).second) {
      throw reader.fail("the key for the second time", "every key once");
    }
  }
  return metadata;
}

GgufMetadata GgufMetadata::read(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw Failure({path.string(), "", "no regular file", "a GGUF file"});
  }
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) throw Failure({path.string(), "", "a file that cannot be opened", "a GGUF file"});
  return read(stream, size, path.string());
}

void GgufMetadata::failType(const std::string& key, const char* expected) const {
  throw Failure({m_file, key, "a value of another type", expected});
}

}  // namespace spanscope::checkpoint
