// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/checkpoint/gguf/gguf_file.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/utf8.h"
#include "engine/checkpoint/json_reading.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace spanscope::checkpoint {

namespace {

constexpr std::uint64_t kMaxTensors = std::uint64_t{1} << 20U;
constexpr std::uint64_t kMaxNameBytes = 1024;
constexpr std::uint64_t kMaxSizes = 4;
constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 31U;
constexpr std::int64_t kUsualAlignment = 32;
constexpr std::int64_t kMaxAlignment = std::int64_t{1} << 20U;
constexpr std::int64_t kMaxParts = 9999;

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

/// Number of elements; throws if it would not fit.
std::uint64_t elementsOf(const GgufReader& reader, const std::vector<std::uint64_t>& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
  std::uint64_t elements = 1;
  for (const std::uint64_t size : shape) {
    if (elements > kMost / size)
      throw reader.fail("a tensor of more than 2^48 elements", "one that fits into a file");
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

/// Tensors of unknown types have an unknown end, so only the others are compared.
void refuseOverlap(const std::vector<PlacedTensor>& tensors, const std::string& source) {
  std::vector<const PlacedTensor*> order;
  for (const PlacedTensor& tensor : tensors) {
    if (tensor.bytes > 0) order.push_back(&tensor);
  }
  std::sort(order.begin(), order.end(),
            [](const PlacedTensor* a, const PlacedTensor* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i - 1]->offset + order[i - 1]->bytes <= order[i]->offset) continue;
    throw Failure({source, shown(order[i]->name),
                   "data that begins within that of " + inQuotes(order[i - 1]->name), "data of its own"});
  }
}

/// "-00002-of-00003.gguf" becomes the name of another part; nothing if the name is not that of the first.
std::optional<std::string> partName(const std::string& first, std::int64_t part, std::int64_t parts) {
  const auto five = [](std::int64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(5 - std::min<std::size_t>(5, digits.size()), '0') + digits;
  };
  const std::string ending = "-00001-of-" + five(parts) + ".gguf";
  if (!first.ends_with(ending)) return std::nullopt;
  return first.substr(0, first.size() - ending.size()) + "-" + five(part) + "-of-" + five(parts) + ".gguf";
}

/// Number of parts; the file must be the first of them.
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
                   "the first part: the others are found beside it"});
  }
  return *parts;
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
                   "data up to byte " + std::to_string(tensor.offset + tensor.bytes) + " behind the header",
                   "an end within the " + std::to_string(size) + " bytes there"});
  }
  refuseOverlap(placed, source);
  for (PlacedTensor& tensor : placed) {
    if (tensor.bytes > 0) tensor.tensor.data = bytes.subspan(begin + tensor.offset, tensor.bytes);
    const std::string name = tensor.name;
    if (!contents.tensors.emplace(name, std::move(tensor.tensor)).second)
      throw Failure({source, shown(name), "the tensor for the second time", "every tensor once"});
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
  m_metadata = first.metadata;
  add(path, std::move(first));
  for (std::int64_t part = 2; part <= parts; ++part) {
    const std::optional<std::string> name = partName(path.filename().string(), part, parts);
    if (!name) {
      throw Failure({path.string(), "split.count", counted(parts, "part"),
                     "a name that ends in -00001-of-" + std::to_string(parts) + ".gguf, as of the first"});
    }
    const std::filesystem::path other = path.parent_path() / *name;
    add(other, parse(other));
  }
}

void GgufFile::add(const std::filesystem::path& path, GgufContents contents) {
  for (auto& [name, tensor] : contents.tensors) {
    if (!m_tensors.emplace(name, Located{path.string(), std::move(tensor)}).second)
      throw Failure({path.string(), shown(name), "a tensor that another part has, too", "every tensor once"});
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
  std::sort(found.begin(), found.end());
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

}  // namespace spanscope::checkpoint
