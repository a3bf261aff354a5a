// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/compute/half.h"
#include "engine/model/tensor_list.h"
#include "engine/model/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace spanscope::model {

namespace {

/// Uniform values of variance 1/columns. A table of all 65 536 values makes one lookup of what would be a
/// conversion and a rounding per element.
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

/// All tensors of one input width read from one pattern, each from another place: no two tensors of a model
/// are equal, and the host holds a fraction of the model's size.
class RandomWeights : public WeightSource {
 public:
  RandomWeights(const ModelConfig& config, std::uint64_t seed, compute::DType type)
      : m_type(type), m_seed(seed) {
    std::map<std::int64_t, std::size_t> longest;
    std::size_t longestNorm = 0;
    for (const NamedTensor& tensor : tensorsOf(config)) {
      Place place{tensor.rows, tensor.columns, m_places.size() * kStep, tensor.isNorm};
      const std::size_t count =
          static_cast<std::size_t>(tensor.rows) * static_cast<std::size_t>(tensor.columns);
      std::size_t& most = tensor.isNorm ? longestNorm : longest[tensor.columns];
      most = std::max(most, count + (tensor.isNorm ? 0 : place.offset));
      m_places.emplace(tensor.name, place);
    }
    for (const auto& [columns, count] : longest) {
      const std::uint64_t start = mixBits(mixBits(seed) ^ static_cast<std::uint64_t>(columns));
      m_patterns.emplace(columns, type == compute::DType::F32
                                      ? randomPattern<std::uint32_t>(count, columns, type, start)
                                      : randomPattern<std::uint16_t>(count, columns, type, start));
    }
    const std::size_t size = compute::sizeOf(type);
    m_ones.resize(longestNorm * size);
    for (std::size_t i = 0; i < longestNorm; ++i) compute::storeElement(m_ones.data() + i * size, type, 1.0F);
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
    if (found == m_places.end()) throw Failure({m_name, name, "no such tensor", "one of the model's"});
    const Place& place = found->second;
    if (place.rows != rows || place.columns != columns) {
      throw Failure({m_name, name, std::to_string(place.rows) + " × " + std::to_string(place.columns),
                     std::to_string(rows) + " × " + std::to_string(columns)});
    }
    if (place.isNorm) return {m_ones.data(), compute::formatOf(m_type), rows, columns};
    return {m_patterns.at(columns).data() + place.offset * compute::sizeOf(m_type), compute::formatOf(m_type),
            rows, columns};
  }

  std::vector<StoredTensor> stored() const override {
    std::vector<StoredTensor> tensors;
    for (const auto& [name, place] : m_places) tensors.push_back({name, m_name});
    return tensors;
  }

  std::string fingerprint() const override {
    return "random-" + std::to_string(m_seed) + "-" + compute::nameOf(m_type) + "-" + m_shape;
  }
  std::string name() const override { return m_name; }

 private:
  /// Elements by which the places of two tensors differ: a prime, so that rows of different tensors do not
  /// line up.
  static constexpr std::size_t kStep = 10007;

  struct Place {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::size_t offset = 0;  ///< in elements of the pattern of this width
    bool isNorm = false;
  };

  compute::DType m_type;
  std::uint64_t m_seed;
  std::string m_name;
  std::string m_shape;
  std::map<std::string, Place> m_places;
  std::map<std::int64_t, std::vector<std::byte>> m_patterns;
  std::vector<std::byte> m_ones;
};

}  // namespace

std::unique_ptr<WeightSource> makeRandomWeights(const ModelConfig& config, std::uint64_t seed,
                                                compute::DType type) {
  return std::make_unique<RandomWeights>(config, seed, type);
}

}  // namespace spanscope::model
