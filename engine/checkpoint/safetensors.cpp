// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/safetensors.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace spanscope::checkpoint {

namespace {

constexpr std::size_t kLengthBytes = 8;

struct TypeInfo {
  const char* name;
  std::uint64_t bits;
  std::optional<compute::DType> type;
};

/// All types of the format.
constexpr std::array kTypes = {
    TypeInfo{"F32", 32, compute::DType::F32},
    TypeInfo{"F16", 16, compute::DType::F16},
    TypeInfo{"BF16", 16, compute::DType::BF16},
    TypeInfo{"BOOL", 8, std::nullopt},
    TypeInfo{"U8", 8, std::nullopt},
    TypeInfo{"I8", 8, std::nullopt},
    TypeInfo{"F8_E5M2", 8, std::nullopt},
    TypeInfo{"F8_E4M3", 8, std::nullopt},
    TypeInfo{"F8_E8M0", 8, std::nullopt},
    TypeInfo{"F4", 4, std::nullopt},
    TypeInfo{"F6_E2M3", 6, std::nullopt},
    TypeInfo{"F6_E3M2", 6, std::nullopt},
    TypeInfo{"I16", 16, std::nullopt},
    TypeInfo{"U16", 16, std::nullopt},
    TypeInfo{"I32", 32, std::nullopt},
    TypeInfo{"U32", 32, std::nullopt},
    TypeInfo{"I64", 64, std::nullopt},
    TypeInfo{"U64", 64, std::nullopt},
    TypeInfo{"F64", 64, std::nullopt},
    TypeInfo{"C64", 64, std::nullopt},
};

struct Entry {
  std::optional<std::string> typeName;
  std::optional<std::vector<std::uint64_t>> shape;
  std::optional<std::vector<std::uint64_t>> offsets;
};

/// Checks the header during the parse. A hostile header is therefore refused at its first fault, before a
/// tree is built.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit HeaderReader(std::string source) : m_source(std::move(source)) {}

  std::map<std::string, Entry> entries;
  std::map<std::string, std::string> metadata;
  std::optional<Error> problem;

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return unexpected(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override { return unexpected(text); }
  bool binary(binary_t& /*value*/) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (m_state == State::Shape) {
      if (m_entry->shape->size() == kMaxSafetensorsRank) {
        return fail("more dimensions", "at most " + std::to_string(kMaxSafetensorsRank) + " dimensions");
      }
      m_entry->shape->push_back(value);
      return true;
    }
    if (m_state == State::Offsets) {
      if (m_entry->offsets->size() == 2) return fail("more than two data offsets", "two");
      m_entry->offsets->push_back(value);
      return true;
    }
    return unexpected(std::to_string(value));
  }

  bool string(string_t& value) override {
    if (m_state == State::Metadata) {
      metadata[m_key] = value;
      return true;
    }
    if (m_state == State::Tensor && m_key == "dtype") {
      m_entry->typeName = value;
      return true;
    }
    return unexpected(inQuotes(value));
  }

  bool start_object(std::size_t /*size*/) override {
    switch (m_state) {
      case State::Outside:
        m_state = State::Top;
        return true;
      case State::Top:
        m_state = m_name == "__metadata__" ? State::Metadata : State::Tensor;
        if (m_state == State::Tensor) m_entry = &entries[m_name];
        return true;
      default:
        return unexpected("an object");
    }
  }

  bool key(string_t& value) override {
    if (m_state == State::Top) {
      m_name = value;
      if (entries.contains(value) || (m_name == "__metadata__" && std::exchange(m_metadataSeen, true))) {
        return fail("a duplicate name", "every name once");
      }
      return true;
    }
    m_key = value;
    if (m_state == State::Metadata) {
      if (metadata.contains(value)) return fail(inQuotes(value) + " twice", "every name once");
      return true;
    }
    if (value != "dtype" && value != "shape" && value != "data_offsets") {
      return fail("field " + inQuotes(value), "dtype, shape and data_offsets");
    }
    const bool again = value == "dtype"   ? m_entry->typeName.has_value()
                       : value == "shape" ? m_entry->shape.has_value()
                                          : m_entry->offsets.has_value();
    return again ? fail("field " + value + " twice", "every field once") : true;
  }

  bool end_object() override {
    if (m_state == State::Tensor) {
      const char* missing = !m_entry->typeName  ? "dtype"
                            : !m_entry->shape   ? "shape"
                            : !m_entry->offsets ? "data_offsets"
                                                : nullptr;
      if (missing != nullptr) return fail(std::string("no ") + missing, "dtype, shape and data_offsets");
    }
    m_state = m_state == State::Top ? State::Outside : State::Top;
    return true;
  }

  bool start_array(std::size_t /*size*/) override {
    if (m_state == State::Tensor && m_key == "shape") {
      m_entry->shape.emplace();
      m_state = State::Shape;
      return true;
    }
    if (m_state == State::Tensor && m_key == "data_offsets") {
      m_entry->offsets.emplace();
      m_state = State::Offsets;
      return true;
    }
    return unexpected("an array");
  }

  bool end_array() override {
    if (m_state == State::Offsets && m_entry->offsets->size() != 2) {
      return fail(counted(m_entry->offsets->size(), "data offset"), "two");
    }
    m_state = State::Tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::json::exception& /*error*/) override {
    problem = Error{m_source, "byte " + std::to_string(kLengthBytes + position), "a syntax error", "JSON"};
    return false;
  }

 private:
  enum class State { Outside, Top, Metadata, Tensor, Shape, Offsets };

  bool fail(std::string found, std::string expected) {
    problem =
        Error{m_source, m_name.empty() ? "header" : inQuotes(m_name), std::move(found), std::move(expected)};
    return false;
  }

  bool unexpected(const std::string& found) {
    switch (m_state) {
      case State::Outside:
        return fail(found, "an object");
      case State::Top:
        return fail(found, "an object that describes a tensor");
      case State::Metadata:
        return fail(found, "a string");
      case State::Tensor:
        return fail(found + " as " + m_key, m_key == "dtype" ? "a string" : "an array");
      case State::Shape:
      case State::Offsets:
        break;
    }
    return fail(found + " in " + m_key, "an integer of at least 0");
  }

  std::string m_source;
  State m_state = State::Outside;
  std::string m_name;  ///< of the tensor
  std::string m_key;   ///< within the tensor or the metadata
  bool m_metadataSeen = false;
  Entry* m_entry = nullptr;
};

/// Returns the number of bytes of a tensor, if this number is whole and fits in 64 bits.
std::optional<std::uint64_t> sizeInBytes(const std::vector<std::uint64_t>& shape, std::uint64_t bits) {
  if (std::ranges::find(shape, 0U) != shape.end()) return 0;
  std::uint64_t product = bits;
  for (const std::uint64_t extent : shape) {
    if (product > std::numeric_limits<std::uint64_t>::max() / extent) return std::nullopt;
    product *= extent;
  }
  if (product % 8 != 0) return std::nullopt;
  return product / 8;
}

std::uint64_t headerLength(std::span<const std::byte> bytes, const std::string& source) {
  if (bytes.size() < kLengthBytes) {
    throw Failure({source, "", counted(bytes.size(), "byte"), "a safetensors file, at least 8 bytes"});
  }
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  if (length == 0 && bytes.size() > kLengthBytes && bytes[kLengthBytes] == std::byte{0}) {
    throw Failure({source, "byte 0", /*id:file-of-zeros*/ "zeros in place of a header",
                   "a safetensors file: the download did not finish. Download the file again"});
  }
  const std::string_view head(reinterpret_cast<const char*>(bytes.data()), kLengthBytes);
  if (head.starts_with("GGUF")) {
    throw Failure({source, "", /*id:file-is-gguf*/ "a GGUF file with the name of a safetensors file",
                   "a safetensors file, or the ending .gguf"});
  }
  if (length > kMaxSafetensorsHeader) {
    throw Failure({source, "byte 0", "a header of " + std::to_string(length) + " bytes",
                   "at most " + std::to_string(kMaxSafetensorsHeader)});
  }
  if (length > bytes.size() - kLengthBytes) {
    throw Failure(
        {source, "byte 0", "a header of " + counted(length, "byte"),
         "at most the " + counted(bytes.size() - kLengthBytes, "byte that follows", "bytes that follow")});
  }
  return length;
}

SafetensorsTensor checkedTensor(const std::string& name, Entry& entry, std::span<const std::byte> data,
                                const std::string& source) {
  const auto fail = [&](std::string found, std::string expected) {
    throw Failure({source, inQuotes(name), std::move(found), std::move(expected)});
  };
  const auto type = std::ranges::find(kTypes, *entry.typeName, &TypeInfo::name);
  if (type == kTypes.end()) fail("type " + inQuotes(*entry.typeName), "a type of the safetensors format");
  const std::uint64_t begin = entry.offsets->at(0);
  const std::uint64_t end = entry.offsets->at(1);
  const std::string offsets = "data at " + std::to_string(begin) + " to " + std::to_string(end);
  if (begin > end) fail(offsets, "a start offset of at most the end offset");
  if (end > data.size())
    fail(offsets + ", but the data ends after " + counted(data.size(), "byte"),
         /*id:file-ends-early*/ "the whole file: download it again");
  const std::optional<std::uint64_t> size = sizeInBytes(*entry.shape, type->bits);
  const std::string shape = std::string(type->name) + " " + shapeText(*entry.shape);
  if (!size) fail(shape, "a size in whole bytes, less than 2^64");
  if (*size != end - begin) {
    fail(counted(end - begin, "byte") + " of data", std::to_string(*size) + " for " + shape);
  }
  return {type->name, type->type, std::move(*entry.shape),
          data.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin))};
}

/// The tensors must cover all bytes of the data, each byte once.
void checkCoverage(const std::map<std::string, SafetensorsTensor>& tensors, std::span<const std::byte> data,
                   const std::string& source) {
  struct Extent {
    std::size_t begin;
    std::size_t end;
    const std::string* name;
  };
  std::vector<Extent> extents;
  extents.reserve(tensors.size());
  for (const auto& [name, tensor] : tensors) {
    const auto begin = static_cast<std::size_t>(tensor.data.data() - data.data());
    extents.push_back({begin, begin + tensor.data.size(), &name});
  }
  std::ranges::sort(extents, [](const Extent& a, const Extent& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::size_t covered = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != covered) {
      throw Failure({source, inQuotes(*extent.name), "data from " + std::to_string(extent.begin),
                     "data from " + std::to_string(covered) + ", where the previous tensor ends"});
    }
    covered = extent.end;
  }
  if (covered != data.size()) {
    throw Failure({source, "", counted(data.size(), "byte") + " of data",
                   "the " + counted(covered, "byte") + " that the header describes"});
  }
}

}  // namespace

std::string shapeText(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

SafetensorsFile parseSafetensors(std::span<const std::byte> bytes, const std::string& source) {
  const std::uint64_t length = headerLength(bytes, source);
  const auto header = bytes.subspan(kLengthBytes, static_cast<std::size_t>(length));
  const auto data = bytes.subspan(kLengthBytes + header.size());
  if (header.empty() || header[0] != std::byte{'{'}) {
    throw Failure({source, "byte 8",
                   header.empty() ? "an empty header" : "a header that begins with another character",
                   "the character {"});
  }
  // The JSON parser reads a NUL as the end and would ignore the text after the NUL.
  const auto nul = std::ranges::find(header, std::byte{0});
  if (nul != header.end()) {
    throw Failure({source,
                   "byte " + std::to_string(kLengthBytes + static_cast<std::size_t>(nul - header.begin())),
                   "a NUL", "JSON"});
  }
  HeaderReader reader(source);
  const char* text = reinterpret_cast<const char*>(header.data());
  if (!nlohmann::json::sax_parse(text, text + header.size(), &reader))
    throw Failure(reader.problem.value_or(Error{}));

  SafetensorsFile file;
  file.metadata = std::move(reader.metadata);
  for (auto& [name, entry] : reader.entries) {
    file.tensors.emplace(name, checkedTensor(name, entry, data, source));
  }
  checkCoverage(file.tensors, data, source);
  return file;
}

}  // namespace spanscope::checkpoint
