// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/arranged_weights.h"

#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::model {
namespace {

/// Rows of a stored matrix that contains several matrices.
struct Part {
  std::string whole;  ///< its name
  std::int64_t wholeRows = 0;
  std::int64_t firstRow = 0;
};

/// The differences between a family's storage and the decoder's arrangement.
class Arrangement {
 public:
  using Parts = std::vector<std::pair<std::string_view, std::int64_t>>;

  explicit Arrangement(const ModelConfig& config) : m_config(config) {}

  /// The stored matrices that contain several matrices, and where each begins.
  std::array<std::pair<std::string_view, Parts>, 2> wholes() const {
    return {{{kQueryKeyValue,
              {{"self_attn.q_proj", 0},
               {"self_attn.k_proj", queryRows()},
               {"self_attn.v_proj", queryRows() + keyRows()}}},
             {kGateUp, {{"mlp.gate_proj", 0}, {"mlp.up_proj", m_config.intermediateSize}}}}};
  }
  std::int64_t rowsOf(std::string_view whole) const {
    return whole == kQueryKeyValue ? queryRows() + 2 * keyRows()
                                   : 2 * std::int64_t{m_config.intermediateSize};
  }

  /// For queries and keys with a rotated part.
  std::optional<std::int32_t> turnedHeads(std::string_view name) const {
    if (turned() == 0) return std::nullopt;
    if (name.find(".self_attn.q_proj") != std::string_view::npos) return m_config.heads;
    if (name.find(".self_attn.k_proj") != std::string_view::npos) return m_config.keyValueHeads;
    return std::nullopt;
  }

  /// Writes the rows of some heads in the decoder's order. Each row has `rowBytes` bytes.
  std::vector<std::byte> ordered(const std::byte* rows, std::size_t rowBytes, std::int32_t heads) const {
    const std::int64_t headRows = m_config.headSize;
    std::vector<std::byte> out(static_cast<std::size_t>(heads * headRows) * rowBytes);
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t row = 0; row < headRows; ++row) {
        const auto from = static_cast<std::size_t>(head * headRows + row);
        const auto to = static_cast<std::size_t>(head * headRows + placeOf(row));
        std::memcpy(out.data() + to * rowBytes, rows + from * rowBytes, rowBytes);
      }
    }
    return out;
  }

 private:
  static constexpr std::string_view kQueryKeyValue = "self_attn.qkv_proj";
  static constexpr std::string_view kGateUp = "mlp.gate_up_proj";

  std::int64_t queryRows() const { return std::int64_t{m_config.heads} * m_config.headSize; }
  std::int64_t keyRows() const { return std::int64_t{m_config.keyValueHeads} * m_config.headSize; }
  /// The rotated elements of a head; the same in all layers.
  std::int32_t turned() const { return m_config.attention.rotary ? m_config.attention.rotary->turned : 0; }

  /// Returns the place of row i of a head in the decoder's order.
  std::int64_t placeOf(std::int64_t row) const {
    const std::int64_t part = turned() / 2;
    const std::int64_t half = m_config.headSize / 2;
    if (row < part) return row;
    if (row < 2 * part) return half + row - part;
    const std::int64_t rest = row - 2 * part;  // fills the rest of both halves
    return rest < half - part ? part + rest : half + part + rest - (half - part);
  }

  ModelConfig m_config;
};

class ArrangedWeights final : public WeightSource {
 public:
  ArrangedWeights(std::unique_ptr<WeightSource> source, const ModelConfig& config, bool normsLackOne)
      : m_source(std::move(source)), m_arrangement(config), m_normsLackOne(normsLackOne) {
    for (const StoredTensor& tensor : m_source->stored()) {
      std::string prefix;
      for (const auto& [whole, parts] : m_arrangement.wholes()) {
        const std::string_view name = tensor.name;
        const std::size_t at = name.rfind(whole);
        if (at == std::string_view::npos || !name.starts_with("model.layers.")) continue;
        const std::string before(name.substr(0, at));
        const std::string after(name.substr(at + whole.size()));
        for (const auto& [part, first] : parts) {
          m_parts.emplace(before + std::string(part) + after,
                          Part{tensor.name, m_arrangement.rowsOf(whole), first});
          m_stored.push_back({before + std::string(part) + after, tensor.file});
        }
        prefix = before;
      }
      if (prefix.empty()) m_stored.push_back(tensor);
    }
  }

  bool has(const std::string& name) const override { return m_parts.contains(name) || m_source->has(name); }

  compute::WeightFormat formatOf(const std::string& name, std::int64_t rows,
                                 std::int64_t columns) const override {
    if (lacksOne(name)) return compute::WeightFormat::F32;
    const auto part = m_parts.find(name);
    if (part == m_parts.end()) return m_source->formatOf(name, rows, columns);
    return m_source->formatOf(part->second.whole, part->second.wholeRows, columns);
  }

  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    compute::HostMatrix matrix = cut(name, rows, columns);
    const std::optional<std::int32_t> heads = m_arrangement.turnedHeads(name);
    if (!heads && !lacksOne(name)) return matrix;
    auto known = m_changed.find(name);
    if (known == m_changed.end())
      known = m_changed.emplace(name, heads ? ordered(matrix, *heads) : withOne(matrix)).first;
    matrix.data = known->second.data();
    if (lacksOne(name)) matrix.format = compute::WeightFormat::F32;
    return matrix;
  }

  void requireWhole() const override { m_source->requireWhole(); }
  void requireUnchanged() const override { m_source->requireUnchanged(); }
  std::vector<StoredTensor> stored() const override { return m_stored; }
  std::string fingerprint() const override { return m_source->fingerprint(); }
  std::string name() const override { return m_source->name(); }

 private:
  compute::HostMatrix cut(const std::string& name, std::int64_t rows, std::int64_t columns) const {
    const auto part = m_parts.find(name);
    if (part == m_parts.end()) return m_source->get(name, rows, columns);
    const Part& place = part->second;
    // A bias is a vector with one element per row.
    const bool isVector = rows == 1;
    compute::HostMatrix matrix = isVector ? m_source->get(place.whole, 1, place.wholeRows)
                                          : m_source->get(place.whole, place.wholeRows, columns);
    matrix.data =
        isVector ? matrix.data + compute::bytesOf(matrix.format, place.firstRow) : matrix.row(place.firstRow);
    matrix.rows = rows;
    matrix.columns = columns;
    return matrix;
  }

  bool lacksOne(std::string_view name) const { return m_normsLackOne && name.ends_with("norm.weight"); }

  std::vector<std::byte> ordered(const compute::HostMatrix& matrix, std::int32_t heads) const {
    const bool isVector = matrix.rows == 1;
    return m_arrangement.ordered(matrix.data,
                                 isVector ? compute::bytesOf(matrix.format, 1) : matrix.rowBytes(), heads);
  }

  static std::vector<std::byte> withOne(const compute::HostMatrix& matrix) {
    std::vector<float> values(static_cast<std::size_t>(matrix.rows * matrix.columns));
    compute::widen(matrix.format, matrix.data, matrix.rows * matrix.columns, values.data());
    for (float& value : values) value += 1;
    std::vector<std::byte> out(values.size() * sizeof(float));
    std::memcpy(out.data(), values.data(), out.size());
    return out;
  }

  std::unique_ptr<WeightSource> m_source;
  Arrangement m_arrangement;
  bool m_normsLackOne = false;
  std::map<std::string, Part> m_parts;  ///< by the name of the part
  std::vector<StoredTensor> m_stored;
  mutable std::map<std::string, std::vector<std::byte>> m_changed;
};

}  // namespace

std::unique_ptr<WeightSource> arrange(std::unique_ptr<WeightSource> source, const ModelConfig& config,
                                      bool normsLackOne) {
  return std::make_unique<ArrangedWeights>(std::move(source), config, normsLackOne);
}

Adapter arrange(const Adapter& adapter, const ModelConfig& config) {
  const Arrangement arrangement(config);
  std::map<std::string, LowRankPair> pairs;
  for (const auto& [name, pair] : adapter.pairs()) {
    bool isWhole = false;
    for (const auto& [whole, parts] : arrangement.wholes()) {
      // A matrix of another height is refused by its own name, as the model has no such matrix.
      if (!name.ends_with(whole) || pair.rows != arrangement.rowsOf(whole)) continue;
      isWhole = true;
      const std::string before = name.substr(0, name.size() - whole.size());
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::int64_t first = parts[i].second;
        const std::int64_t end = i + 1 < parts.size() ? parts[i + 1].second : pair.rows;
        LowRankPair part{.down = pair.down, .up = {}, .rank = pair.rank, .rows = end - first};
        part.columns = pair.columns;
        part.up.assign(pair.up.begin() + first * pair.rank, pair.up.begin() + end * pair.rank);
        pairs.emplace(before + std::string(parts[i].first), std::move(part));
      }
    }
    if (!isWhole) pairs.emplace(name, pair);
  }
  for (auto& [name, pair] : pairs) {
    const std::optional<std::int32_t> heads = arrangement.turnedHeads(name);
    if (!heads || pair.rows != std::int64_t{*heads} * config.headSize) continue;
    const std::vector<std::byte> rows =
        arrangement.ordered(std::as_bytes(std::span(pair.up)).data(),
                            static_cast<std::size_t>(pair.rank) * sizeof(float), *heads);
    std::memcpy(pair.up.data(), rows.data(), rows.size());
  }
  return adapter.withPairs(std::move(pairs));
}

}  // namespace spanscope::model
