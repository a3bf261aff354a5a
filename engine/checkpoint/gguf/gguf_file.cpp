// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/gguf/gguf_file.h"

#include "engine/base/counted.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/json_reading.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

namespace spanscope::checkpoint {

namespace {

constexpr std::uint64_t kMaxTensors = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMaxNameBytes = 1024;
constexpr std::uint64_t kMaxSizes = 4;
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 31U;
constexpr std::int64_t kUsualAlignment = 32;
constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 20U;
constexpr std::int64_t kMaxParts = 9999;
/// Max number of bytes between the last tensor of a part and its end.
constexpr std::size_t kMostPadding = std::size_t{1} << 20U;

/// A tensor whose place in the file is read, but not checked yet.
struct PlacedTensor {
  std::string name;
  GgufTensor tensor;
  std::uint64_t offset = 0;  ///< from the beginning of the data
  std::uint64_t bytes = 0;
};

std::string shown(const std::string& name) {
  return toValidUtf8(std::string_view(name).substr(0, 100));
}

std::vector<std::uint64_t> readShape(GgufReader& reader) {
  const std::uint64_t sizes = reader.integer(4);
  if (sizes < 1 || sizes > kMaxSizes)
    throw reader.fail("a shape of " + std::to_string(sizes) + " sizes", "1 to 4 sizes");
  std::vector<std::uint64_t> shape;
  for (std::uint64_t i = 0; i < sizes; ++i) {
    const std::uint64_t size = reader.integer(8);
    if (size < 1 || size > kMaxSize)
      throw reader.fail("the size " + std::to_string(size), "1 to " + std::to_string(kMaxSize));
    shape.push_back(size);
  }
  return shape;
}

/// Returns the number of elements. Throws Failure if the number is over 2^48.
std::uint64_t elementsOf(const GgufReader& reader, const std::vector<std::uint64_t>& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  std::uint64_t elements = 1;
  for (const std::uint64_t size : shape) {
    if (elements > kMost / size)
      throw reader.fail("a tensor of more than 2^48 elements", "a tensor that fits into a file");
    elements *= size;
  }
  return elements;
}

PlacedTensor readTensor(GgufReader& reader, std::uint64_t alignment) {
  PlacedTensor placed;
  placed.name = reader.text(kMaxNameBytes);
  reader.setSubject(shown(placed.name));
  placed.tensor.shape = readShape(reader);
  placed.tensor.type = static_cast<std::uint32_t>(reader.integer(4));
  placed.tensor.format = compute::findGgufType(placed.tensor.type);
  const std::uint64_t elements = elementsOf(reader, placed.tensor.shape);
  placed.offset = reader.integer(8);
  if (placed.offset % alignment != 0) {
    throw reader.fail("data at byte " + std::to_string(placed.offset),
                      "a multiple of the alignment of " + std::to_string(alignment));
  }
  if (placed.tensor.format == nullptr) return placed;
  const compute::WeightFormatInfo& format = *placed.tensor.format;
  const auto block = static_cast<std::uint64_t>(format.blockElements);
  if (placed.tensor.shape.front() % block != 0) {
    throw reader.fail(
        "rows of " + std::to_string(placed.tensor.shape.front()) + " elements in " + format.name,
        "a multiple of " + std::to_string(block));
  }
  placed.bytes = elements / block * static_cast<std::uint64_t>(format.blockBytes);
  return placed;
}

std::uint64_t alignmentOf(const GgufMetadata& metadata) {
  const std::int64_t* stated = metadata.integer("general.alignment");
  if (stated == nullptr) return kUsualAlignment;
  if (*stated < 8 || *stated > kMaxAlignment || !std::has_single_bit(static_cast<std::uint64_t>(*stated))) {
    throw Failure({metadata.file(), "general.alignment", std::to_string(*stated),
                   "a power of two from 8 to " + std::to_string(kMaxAlignment)});
  }
  return static_cast<std::uint64_t>(*stated);
}

/// Tensors of unknown types have an unknown end, so only the other tensors are compared.
void refuseOverlap(const std::vector<PlacedTensor>& tensors, const std::string& source) {
  std::vector<const PlacedTensor*> order;
  for (const PlacedTensor& tensor : tensors) {
    if (tensor.bytes > 0) order.push_back(&tensor);
  }
  std::ranges::sort(order, {}, &PlacedTensor::offset);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->offset + order[i - 1]->bytes <= order[i]->offset) continue;
    throw Failure({source, shown(order[i]->name),
                   "data that begins within the data of " + inQuotes(order[i - 1]->name),
                   "data that no other tensor uses"});
  }
}

/// Returns "-00001-of-00003.gguf" for the first of three parts.
std::string endingOf(std::int64_t part, std::int64_t parts) {
  const auto five = [](std::int64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits;
  };
  return "-" + five(part) + "-of-" + five(parts) + ".gguf";
}

/// "-00001-of-00003.gguf" becomes "-00002-of-00003.gguf". Nothing: the name has another ending.
std::optional<std::string> partName(const std::string& first, std::int64_t part, std::int64_t parts) {
  const std::string ending = endingOf(1, parts);
  if (!first.ends_with(ending)) return std::nullopt;
  return first.substr(0, first.size() - ending.size()) + endingOf(part, parts);
}

/// Returns the number of parts. Throws Failure if the file is not the first part.
std::int64_t partsOf(const GgufMetadata& metadata) {
  const std::int64_t* parts = metadata.integer("split.count");
  if (parts == nullptr || *parts == 0) return 1;
  if (*parts < 0 || *parts > kMaxParts) {
    throw Failure({metadata.file(), "split.count", std::to_string(*parts),
                   "the number of parts, up to " + std::to_string(kMaxParts)});
  }
  const std::int64_t* number = metadata.integer("split.no");
  if (number != nullptr && *number != 0) {
    throw Failure({metadata.file(), "split.no",
                   "part " + std::to_string(*number + 1) + " of " + std::to_string(*parts),
                   "the first part (Spanscope finds the other parts beside it)"});
  }
  return *parts;
}

/// Parts that were joined by copying one after the other are no GGUF file. Each part has a header of its own.
void refuseJoined(const MappedFile& file, const GgufContents& first) {
  constexpr std::string_view kMagic = "GGUF";
  const std::span<const std::byte> all = file.bytes();
  std::size_t end = 0;
  for (const auto& [name, tensor] : first.tensors) {
    if (!tensor.data.empty())
      end = std::max(end, static_cast<std::size_t>(tensor.data.data() - all.data()) + tensor.data.size());
  }
  const std::string_view rest(reinterpret_cast<const char*>(all.data()) + end,
                              std::min(all.size() - end, kMostPadding));
  if (end == 0 || rest.find(kMagic) == std::string_view::npos) return;
  throw Failure({first.metadata.file(), "split.count", /*id:parts-joined*/ "several parts in one file",
                 "each part in its own file (llama-gguf-split --merge joins the parts)"});
}

}  // namespace

std::int64_t GgufTensor::elements() const {
  std::int64_t elements = 1;
  for (const std::uint64_t size : shape) elements *= static_cast<std::int64_t>(size);
  return elements;
}

std::string GgufTensor::typeName() const {
  return format != nullptr ? format->name : "type " + std::to_string(type);
}

GgufContents parseGguf(std::span<const std::byte> bytes, const std::string& source) {
  GgufReader reader(bytes, source);
  const GgufHead head = readGgufHead(reader);
  if (head.tensors > kMaxTensors)
    throw reader.fail(std::to_string(head.tensors) + " tensors", "at most " + std::to_string(kMaxTensors));
  GgufContents contents;
  contents.metadata = GgufMetadata::read(reader, head.keys, source);
  const std::uint64_t alignment = alignmentOf(contents.metadata);
  std::vector<PlacedTensor> placed;
  for (std::uint64_t i = 0; i < head.tensors; ++i) {
    reader.setSubject("");
    placed.push_back(readTensor(reader, alignment));
  }
  const std::uint64_t begin = (reader.position() + alignment - 1) / alignment * alignment;
  const std::uint64_t size = begin < bytes.size() ? bytes.size() - begin : 0;
  for (const PlacedTensor& tensor : placed) {
    if (tensor.offset <= size && tensor.bytes <= size - tensor.offset) continue;
    throw Failure({source, shown(tensor.name),
                   "data up to byte " + std::to_string(tensor.offset + tensor.bytes) +
                       " after the header, where the file has " + counted(size, "byte"),
                   "the whole file: download it again"});
  }
  refuseOverlap(placed, source);
  for (PlacedTensor& tensor : placed) {
    if (tensor.bytes > 0) tensor.tensor.data = bytes.subspan(begin + tensor.offset, tensor.bytes);
    const std::string name = tensor.name;
    if (!contents.tensors.emplace(name, std::move(tensor.tensor)).second)
      throw Failure({source, shown(name), "a second tensor of this name", "each tensor name once"});
  }
  return contents;
}

GgufFile::GgufFile(const std::filesystem::path& path) : m_path(path) {
  const auto parse = [this](const std::filesystem::path& part) {
    return m_files.emplace_back(part).read(
        [&](std::span<const std::byte> bytes) { return parseGguf(bytes, part.string()); });
  };
  GgufContents first = parse(path);
  const std::int64_t parts = partsOf(first.metadata);
  if (parts > 1) refuseJoined(m_files.front(), first);
  m_metadata = first.metadata;
  add(path, std::move(first));
  for (std::int64_t part = 2; part <= parts; ++part) {
    const std::optional<std::string> name = partName(path.filename().string(), part, parts);
    if (!name) {
      throw Failure({path.string(), "split.count",
                     /*id:part-renamed*/ "the first of " + counted(parts, "part") + " under another name",
                     "a name that ends in " + endingOf(1, parts)});
    }
    const std::filesystem::path other = path.parent_path() / *name;
    add(other, parse(other));
  }
}

void GgufFile::add(const std::filesystem::path& path, GgufContents contents) {
  for (auto& [name, tensor] : contents.tensors) {
    if (!m_tensors.emplace(name, Located{path.string(), std::move(tensor)}).second)
      throw Failure(
          {path.string(), shown(name), "a tensor that is also in another part", "each tensor name once"});
  }
}

void GgufFile::requireWhole() const {
  for (const MappedFile& file : m_files) file.requireWhole();
}

void GgufFile::requireUnchanged() const {
  for (const MappedFile& file : m_files) file.requireUnchanged();
}

namespace {

/// "-00002-of-00003" at the end of the name, but not the first part.
bool isLaterPart(const std::string& stem) {
  constexpr std::size_t kSuffix = 15;
  if (stem.size() < kSuffix) return false;
  const std::string suffix = stem.substr(stem.size() - kSuffix);
  return suffix[0] == '-' && suffix.compare(6, 4, "-of-") == 0 && suffix.compare(1, 5, "00001") != 0;
}

}  // namespace

std::vector<std::filesystem::path> ggufFiles(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::filesystem::path& path = entry->path();
    if (path.extension() == ".gguf" && !isLaterPart(path.stem().string())) found.push_back(path);
  }
  std::ranges::sort(found);
  return found;
}

bool isGguf(const std::filesystem::path& path) {
  constexpr std::string_view kMagic = "GGUF";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::array<char, kMagic.size()> bytes{};
  std::ifstream stream(path, std::ios::binary);
  return stream.read(bytes.data(), bytes.size()) && std::string_view(bytes.data(), bytes.size()) == kMagic;
}

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

/// Bytes of a number or truth value; 0 for other types.
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

  /// Returns nothing for a list of lists. Such a list is skipped, unless it is `required`.
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
      if (required) throw m_reader.fail(/*id:list-lists*/ "a list of lists", "a list of texts or numbers");
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
      throw m_reader.fail("a list inside " + std::to_string(depth) + " others", "fewer nested lists");
    const std::uint64_t width = widthOf(element);
    // Every element except a list takes 8 bytes or its width. An empty list takes 12 bytes.
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
  if (reader.integer(4) != kMagic) throw reader.fail("other first bytes", "\"GGUF\"");
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
      throw reader.fail("a second value for this key", "each key once");
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
    throw fail("a header of more than " + std::to_string(kMaxHeaderBytes) + " bytes", "a shorter header");
}

}  // namespace spanscope::checkpoint
