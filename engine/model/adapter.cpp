// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/adapter.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/weight_reader.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace spanscope::model {
namespace {

using checkpoint::JsonPlace;

constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kTensorFile = "adapter_model.safetensors";
constexpr std::uintmax_t kMostConfigBytes = std::uintmax_t{16} << 20U;
constexpr std::string_view kPrefix = "base_model.model.";
constexpr std::string_view kDown = ".lora_A.weight";
constexpr std::string_view kUp = ".lora_B.weight";

struct AdapterConfig {
  double alpha = 1;
  bool dividesByRoot = false;  ///< the scale is alpha / √rank
  bool blockAttention = false;
};

void refuseFlag(const JsonPlace& config, const char* name, const char* why) {
  if (config.flag(name, false)) throw config.field(name).fail("true", std::string("false: ") + why);
}

void refuseEntries(const JsonPlace& config, const char* name) {
  const JsonPlace place = config.field(name);
  if (!place.isNull() && !place.value().empty()) throw place.fail("entries", "none");
}

AdapterConfig readAdapterConfig(const std::filesystem::path& path) {
  return checkpoint::readJsonFile(
      path, kMostConfigBytes, "the configuration of an adapter", [](const JsonPlace& config) {
        const std::string type = config.text("peft_type").value_or("LORA");
        if (type != "LORA") throw config.field("peft_type").fail(checkpoint::inQuotes(type), "\"LORA\"");
        refuseFlag(config, "use_dora", "weights that are split into size and direction are not supported");
        refuseFlag(config, "fan_in_fan_out", "each matrix row must belong to one output");
        const std::string bias = config.text("bias").value_or("none");
        if (bias != "none") throw config.field("bias").fail(checkpoint::inQuotes(bias), "\"none\"");
        refuseEntries(config, "modules_to_save");
        refuseEntries(config, "alpha_pattern");
        AdapterConfig result;
        result.alpha = config.number("lora_alpha", 1e-6, 1e6);
        result.dividesByRoot = config.flag("use_rslora", false);
        result.blockAttention = config.flag("block_attention", false);
        return result;
      });
}

std::vector<float> valuesOf(const checkpoint::SafetensorsTensor& tensor, const std::string& name,
                            const std::string& file) {
  if (tensor.shape.size() != 2 || !tensor.type) {
    throw Failure({file, name, tensor.typeName + " of shape " + checkpoint::shapeText(tensor.shape),
                   "a matrix in F32, F16 or BF16"});
  }
  const auto count = static_cast<std::int64_t>(tensor.shape[0] * tensor.shape[1]);
  std::vector<float> values(static_cast<std::size_t>(count));
  compute::widen(compute::formatOf(*tensor.type), tensor.data.data(), count, values.data());
  if (const std::optional<NotFinite> found = findNotFinite(values)) {
    throw Failure({file, name,
                   std::string(describe(*found)) + " at the index " + std::to_string(found->index),
                   "finite numbers: the file is damaged"});
  }
  return values;
}

/// Returns the name of a tensor's matrix: "model.layers.0.self_attn.q_proj".
std::optional<std::string> matrixOf(std::string_view name, std::string_view ending) {
  if (!name.starts_with(kPrefix) || !name.ends_with(ending)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(ending.size());
  return std::string(name);
}

std::map<std::string, LowRankPair> pairsOf(const checkpoint::SafetensorsFile& parsed,
                                           const AdapterConfig& config, const std::string& file) {
  std::map<std::string, LowRankPair> pairs;
  for (const auto& [name, tensor] : parsed.tensors) {
    if (const std::optional<std::string> matrix = matrixOf(name, kDown)) {
      LowRankPair& pair = pairs[*matrix];
      pair.down = valuesOf(tensor, name, file);
      pair.rank = static_cast<std::int64_t>(tensor.shape[0]);
      pair.columns = static_cast<std::int64_t>(tensor.shape[1]);
    } else if (!matrixOf(name, kUp)) {
      throw Failure({file, name, "an unknown tensor",
                     "only " + std::string(kPrefix) + "….lora_A.weight and ….lora_B.weight"});
    }
  }
  for (const auto& [name, tensor] : parsed.tensors) {
    const std::optional<std::string> matrix = matrixOf(name, kUp);
    if (!matrix) continue;
    const auto found = pairs.find(*matrix);
    if (found == pairs.end())
      throw Failure({file, name, "no tensor " + std::string(kPrefix) + *matrix + std::string(kDown),
                     "both tensors of a pair"});
    LowRankPair& pair = found->second;
    pair.up = valuesOf(tensor, name, file);
    pair.rows = static_cast<std::int64_t>(tensor.shape[0]);
    if (static_cast<std::int64_t>(tensor.shape[1]) != pair.rank) {
      throw Failure({file, name, "shape " + checkpoint::shapeText(tensor.shape),
                     "a rank of " + std::to_string(pair.rank) + ", like the other half of the pair"});
    }
    const auto rank = static_cast<double>(pair.rank);
    const auto scale = static_cast<float>(config.alpha / (config.dividesByRoot ? std::sqrt(rank) : rank));
    for (float& value : pair.up) value *= scale;
  }
  for (const auto& [matrix, pair] : pairs) {
    if (pair.up.empty() || pair.down.empty())
      throw Failure(
          {file, matrix, "one half of a pair", "lora_A.weight and lora_B.weight, with a rank of 1 or more"});
  }
  if (pairs.empty()) throw Failure({file, "tensors", "none", "the pairs of a LoRA adapter"});
  return pairs;
}

}  // namespace

compute::HostMatrix LowRankPair::downMatrix() const {
  return {std::as_bytes(std::span(down)).data(), compute::WeightFormat::F32, rank, columns};
}
compute::HostMatrix LowRankPair::upMatrix() const {
  return {std::as_bytes(std::span(up)).data(), compute::WeightFormat::F32, rows, rank};
}

Adapter Adapter::open(const std::filesystem::path& directory) {
  Adapter adapter;
  adapter.m_directory = directory;
  adapter.m_name = (directory.has_filename() ? directory : directory.parent_path()).filename().string();
  const AdapterConfig config = readAdapterConfig(directory / kConfigFile);
  adapter.m_blockAttention = config.blockAttention;
  const std::filesystem::path path = directory / kTensorFile;
  const checkpoint::MappedFile file(path);
  adapter.m_pairs = file.read([&](std::span<const std::byte> bytes) {
    return pairsOf(checkpoint::parseSafetensors(bytes, path.string()), config, path.string());
  });
  Digest digest;
  for (const auto& [name, pair] : adapter.m_pairs) {
    digest.add(name);
    for (const std::vector<float>* values : {&pair.down, &pair.up})
      digest.add(std::as_bytes(std::span(*values)));
  }
  adapter.m_fingerprint = digest.value().hex();
  return adapter;
}

std::int64_t Adapter::elements() const {
  std::int64_t count = 0;
  for (const auto& [name, pair] : m_pairs)
    count += static_cast<std::int64_t>(pair.down.size() + pair.up.size());
  return count;
}

Adapter Adapter::withPairs(std::map<std::string, LowRankPair> pairs) const {
  Adapter other = *this;
  other.m_pairs = std::move(pairs);
  return other;
}

}  // namespace spanscope::model
