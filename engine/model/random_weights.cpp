// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/compute/dtype.h"
#include "engine/model/weight_reader.h"
#include "engine/model/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace spanscope::model {

namespace {

/// Uniform values of variance 1/columns. A table of all 65 536 values replaces a conversion and a rounding
/// per element by one lookup.
template <class Element>
std::vector<std::byte> randomPattern(std::size_t count, std::int64_t columns, compute::DType type,
                                     std::uint64_t seed) {
  constexpr std::size_t kValues = 65536;
  const double amplitude = std::sqrt(3.0 / static_cast<double>(columns));
  std::vector<Element> table(kValues);
  for (std::size_t i = 0; i < kValues; ++i) {
    const double value = (static_cast<double>(i) + 0.5) * (2.0 / kValues) - 1.0;
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(&table[i], 1));
    compute::storeElement(bytes.data(), type, static_cast<float>(value * amplitude));
  }
  std::vector<std::byte> pattern(count * sizeof(Element));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 4 == 0) bits = mixBits(seed + i / 4);  // 16 bits for each of four elements
    std::memcpy(pattern.data() + i * sizeof(Element), &table[bits & 0xFFFFU], sizeof(Element));
    bits >>= 16;
  }
  return pattern;
}

/// Random codes and scales, with factors and minima that give the values mean 0 and variance 1/columns.
std::vector<std::byte> randomBlocks(std::size_t blocks, std::int64_t columns,
                                    const compute::WeightFormatInfo& info, std::uint64_t seed) {
  constexpr std::size_t kSampled = 256;
  const auto size = static_cast<std::size_t>(info.blockBytes);
  std::vector<std::byte> bytes(std::max(blocks, kSampled) * size);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = mixBits(seed + i);
    std::memcpy(bytes.data() + i, &bits, std::min(sizeof bits, bytes.size() - i));
  }
  const auto set = [&](std::size_t count, double factor, double minimum) {
    for (std::size_t block = 0; block < count; ++block) {
      std::byte* place = bytes.data() + block * size;
      compute::storeFactor(info, static_cast<float>(factor), place);
      if (info.rule.hasMinimum)
        compute::storeElement(place + info.minimumAt, compute::DType::F16, static_cast<float>(minimum));
    }
  };
  std::vector<float> values(kSampled * static_cast<std::size_t>(info.blockElements));
  const auto moments = [&](double factor, double minimum) {
    set(kSampled, factor, minimum);
    compute::widen(info.format, bytes.data(), static_cast<std::int64_t>(values.size()), values.data());
    double sum = 0;
    double squares = 0;
    for (const float value : values) {
      sum += static_cast<double>(value);
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const auto count = static_cast<double>(values.size());
    return std::pair(sum / count, squares / count);
  };
  const double ofMinimum = info.rule.hasMinimum ? moments(0, 1).first : 0;
  const double minimum = ofMinimum == 0 ? 0 : -moments(1, 0).first / ofMinimum;
  const double factor = 1 / std::sqrt(moments(1, minimum).second * static_cast<double>(columns));
  set(bytes.size() / size, factor, factor * minimum);
  bytes.resize(blocks * size);
  return bytes;
}

std::vector<std::byte> randomElements(std::size_t blocks, std::int64_t columns,
                                      const compute::WeightFormatInfo& info, std::uint64_t seed) {
  if (info.isPacked()) return randomBlocks(blocks, columns, info, seed);
  const compute::DType type = *compute::dtypeOf(info.format);
  return type == compute::DType::F32 ? randomPattern<std::uint32_t>(blocks, columns, type, seed)
                                     : randomPattern<std::uint16_t>(blocks, columns, type, seed);
}

/// All tensors of one input width and format read from one pattern, each from another offset. No two tensors
/// of a model are therefore equal, and the host needs a fraction of the model's size.
class RandomWeights : public WeightSource {
 public:
  RandomWeights(const ModelConfig& config, std::uint64_t seed, compute::WeightFormat format)
      : m_format(format), m_normType(compute::dtypeOf(format).value_or(compute::DType::F32)), m_seed(seed) {
    std::map<Kind, std::size_t> longest;
    std::size_t longestNorm = 0;
    for (const NamedTensor& tensor : tensorsOf(config)) {
      const compute::WeightFormatInfo& info = formatFor(tensor);
      Place place{tensor.rows, tensor.columns, info.format, m_places.size() * kStep, tensor.isNorm};
      const std::size_t count = static_cast<std::size_t>(tensor.rows) *
                                static_cast<std::size_t>(tensor.columns / info.blockElements);
      std::size_t& most = tensor.isNorm ? longestNorm : longest[Kind(tensor.columns, info.format)];
      most = std::max(most, count + (tensor.isNorm ? 0 : place.offset));
      m_places.emplace(tensor.name, place);
    }
    for (const auto& [kind, count] : longest) {
      const auto& [columns, kindFormat] = kind;
      const std::uint64_t start = mixBits(mixBits(seed) ^ static_cast<std::uint64_t>(columns));
      m_patterns.emplace(kind, randomElements(count, columns, compute::infoOf(kindFormat), start));
    }
    const std::size_t size = compute::sizeOf(m_normType);
    m_ones.resize(longestNorm * size);
    for (std::size_t i = 0; i < longestNorm; ++i)
      compute::storeElement(m_ones.data() + i * size, m_normType, 1.0F);
    m_name = "random weights, " + counted(config.layers, "layer") + " of width " +
             std::to_string(config.hiddenSize);
    m_shape = std::to_string(config.vocabularySize) + "x" + std::to_string(config.hiddenSize) + "x" +
              std::to_string(config.intermediateSize) + "x" + std::to_string(config.layers) + "x" +
              std::to_string(config.heads) + "x" + std::to_string(config.keyValueHeads) + "x" +
              std::to_string(config.headSize) + (config.tiedEmbeddings ? "-tied" : "");
  }

  bool has(const std::string& name) const override { return m_places.contains(name); }

  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    const auto found = m_places.find(name);
    if (found == m_places.end()) throw Failure({m_name, name, "no such tensor", "a tensor of the model"});
    const Place& place = found->second;
    if (place.rows != rows || place.columns != columns) {
      throw Failure({m_name, name, std::to_string(place.rows) + " × " + std::to_string(place.columns),
                     std::to_string(rows) + " × " + std::to_string(columns)});
    }
    if (place.isNorm) return {m_ones.data(), compute::formatOf(m_normType), rows, columns};
    const compute::WeightFormatInfo& info = compute::infoOf(place.format);
    const std::size_t offset = compute::bytesOf(place.format, info.blockElements) * place.offset;
    return {m_patterns.at(Kind(columns, place.format)).data() + offset, place.format, rows, columns};
  }

  std::vector<StoredTensor> stored() const override {
    std::vector<StoredTensor> tensors;
    for (const auto& [name, place] : m_places) tensors.push_back({name, m_name});
    return tensors;
  }

  std::string fingerprint() const override {
    return "random-" + std::to_string(m_seed) + "-" + compute::nameOf(m_format) + "-" + m_shape;
  }
  std::string name() const override { return m_name; }

 private:
  using Kind = std::pair<std::int64_t, compute::WeightFormat>;  ///< columns and format

  /// A vector has no packed format. A matrix whose rows are not a whole number of blocks has none either.
  const compute::WeightFormatInfo& formatFor(const NamedTensor& tensor) const {
    const compute::WeightFormatInfo& info = compute::infoOf(m_format);
    const bool fits = !info.isPacked() || (tensor.isMatrix() && tensor.columns % info.blockElements == 0);
    return fits ? info : compute::infoOf(compute::WeightFormat::BF16);
  }

  /// Blocks between the offsets of two tensors (elements of a plain format). The number is prime, so that
  /// rows of different tensors do not line up.
  static constexpr std::size_t kStep = 10007;

  struct Place {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    compute::WeightFormat format = compute::WeightFormat::BF16;
    std::size_t offset = 0;  ///< in blocks of the pattern of this kind
    bool isNorm = false;
  };

  compute::WeightFormat m_format;
  compute::DType m_normType;
  std::uint64_t m_seed;
  std::string m_name;
  std::string m_shape;
  std::map<std::string, Place> m_places;
  std::map<Kind, std::vector<std::byte>> m_patterns;
  std::vector<std::byte> m_ones;
};

}  // namespace

std::unique_ptr<WeightSource> makeRandomWeights(const ModelConfig& config, std::uint64_t seed,
                                                compute::WeightFormat format) {
  return std::make_unique<RandomWeights>(config, seed, format);
}

}  // namespace spanscope::model
