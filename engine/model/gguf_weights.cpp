// SPDX-License-Identifier: GPL-3.0-or-later
// A GGUF file as a source of weights.
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/weight_reader.h"
#include "engine/model/weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>

namespace spanscope::model {
namespace {

struct NamePair {
  std::string_view huggingFace;
  std::string_view gguf;
};

/// Tensors outside of the layers.
constexpr std::array kOuterNames = {NamePair{"model.embed_tokens", "token_embd"},
                                    NamePair{"model.norm", "output_norm"},
                                    NamePair{"lm_head", "output"},
                                    NamePair{"model.embed_tokens_per_layer", "per_layer_token_embd"},
                                    NamePair{"model.per_layer_model_projection", "per_layer_model_proj"},
                                    NamePair{"model.per_layer_projection_norm", "per_layer_proj_norm"}};

/// Within a layer.
constexpr std::array kLayerNames = {NamePair{"self_attn.q_proj", "attn_q"},
                                    NamePair{"self_attn.k_proj", "attn_k"},
                                    NamePair{"self_attn.v_proj", "attn_v"},
                                    NamePair{"self_attn.qkv_proj", "attn_qkv"},
                                    NamePair{"self_attn.q_norm", "attn_q_norm"},
                                    NamePair{"self_attn.k_norm", "attn_k_norm"},
                                    NamePair{"self_attn.o_proj", "attn_output"},
                                    NamePair{"mlp.gate_proj", "ffn_gate"},
                                    NamePair{"mlp.up_proj", "ffn_up"},
                                    NamePair{"mlp.down_proj", "ffn_down"},
                                    NamePair{"mlp.gate", "ffn_gate_inp"},
                                    NamePair{"mlp.experts.gate_proj", "ffn_gate_exps"},
                                    NamePair{"mlp.experts.up_proj", "ffn_up_exps"},
                                    NamePair{"mlp.experts.down_proj", "ffn_down_exps"},
                                    NamePair{"mlp.shared_experts.gate_proj", "ffn_gate_shexp"},
                                    NamePair{"mlp.shared_experts.up_proj", "ffn_up_shexp"},
                                    NamePair{"mlp.shared_experts.down_proj", "ffn_down_shexp"},
                                    NamePair{"self_attn.sinks", "attn_sinks"},
                                    NamePair{"per_layer_input_gate", "inp_gate"},
                                    NamePair{"per_layer_projection", "proj"},
                                    NamePair{"post_per_layer_input_norm", "post_norm"}};

/// The name in a layer of the factor on its result.
constexpr std::string_view kGgufLayerScale = "layer_output_scale.weight";

/// The names of norms in files, by the place of the norm.
constexpr NormNames kGgufNorms = {.beforeAttention = "attn_norm",
                                  .afterAttention = "post_attention_norm",
                                  .beforeGate = "ffn_norm",
                                  .afterGate = "post_ffw_norm"};

constexpr std::string_view kHuggingFaceLayer = "model.layers.";
constexpr std::string_view kGgufLayer = "blk.";

/// Converts names of a file to names of Hugging Face, and the reverse.
class HuggingFaceNames {
 public:
  /// `gatesApart`: whether gate and up are two matrices. Otherwise, the combined matrix has the name of up.
  HuggingFaceNames(const ModelConfig& config, bool gatesApart) {
    for (const NamePair& pair : kOuterNames) m_outer.emplace(pair.gguf, pair.huggingFace);
    for (const NamePair& pair : kLayerNames) m_ofLayers.emplace(pair.gguf, pair.huggingFace);
    if (!gatesApart) m_ofLayers.insert_or_assign("ffn_up", "mlp.gate_up_proj");
    const NormNames norms = normsOf(config.norms);
    const auto add = [this](const char* gguf, const char* huggingFace) {
      if (huggingFace != nullptr) m_ofLayers.emplace(gguf, huggingFace);
    };
    add(kGgufNorms.beforeAttention, norms.beforeAttention);
    add(kGgufNorms.afterAttention, norms.afterAttention);
    add(kGgufNorms.beforeGate, norms.beforeGate);
    add(kGgufNorms.afterGate, norms.afterGate);
    // Some families have the norm before the gated product under the other name of Hugging Face.
    if (norms.afterAttention == nullptr) add(kGgufNorms.afterAttention, norms.beforeGate);
  }

  /// Returns the same name if Hugging Face has no other name.
  std::string of(const std::string& name) const {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return name;
    const std::string ending = name.substr(dot);  // ".weight" or ".bias"
    std::string_view stem = std::string_view(name).substr(0, dot);
    if (!stem.starts_with(kGgufLayer)) {
      const auto found = m_outer.find(stem);
      return found == m_outer.end() ? name : std::string(found->second) + ending;
    }
    stem.remove_prefix(kGgufLayer.size());
    const std::size_t split = stem.find('.');
    if (split == std::string_view::npos) return name;
    if (name.ends_with(kGgufLayerScale))
      return std::string(kHuggingFaceLayer) + std::string(stem.substr(0, split + 1)) + kLayerScale;
    const auto found = m_ofLayers.find(stem.substr(split + 1));
    if (found == m_ofLayers.end()) return name;
    return std::string(kHuggingFaceLayer) + std::string(stem.substr(0, split)) + "." +
           std::string(found->second) + ending;
  }

  /// Returns the same name if the file has no other name.
  std::string inFile(const std::string& name) const {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos) return name;
    const std::string ending = name.substr(dot);
    std::string_view stem = std::string_view(name).substr(0, dot);
    if (stem.starts_with(kHuggingFaceLayer) && ending.substr(1) == kLayerScale)
      return std::string(kGgufLayer) + std::string(stem.substr(kHuggingFaceLayer.size())) + "." +
             std::string(kGgufLayerScale);
    std::string layer;
    if (stem.starts_with(kHuggingFaceLayer)) {
      stem.remove_prefix(kHuggingFaceLayer.size());
      const std::size_t split = stem.find('.');
      if (split == std::string_view::npos) return name;
      layer = std::string(kGgufLayer) + std::string(stem.substr(0, split)) + ".";
      stem.remove_prefix(split + 1);
    }
    const auto& pairs = layer.empty() ? m_outer : m_ofLayers;
    const auto found = std::ranges::find_if(pairs, [stem](const auto& pair) { return pair.second == stem; });
    return found == pairs.end() ? name : layer + std::string(found->first) + ending;
  }

 private:
  std::map<std::string_view, std::string_view> m_outer;
  std::map<std::string_view, std::string_view> m_ofLayers;
};

/// For query and key matrices: the heads whose rows are in another order in some files.
std::optional<std::int32_t> permutedHeads(std::string_view name, const ModelConfig& config) {
  const auto isOf = [name](std::string_view stem) {
    return name.find(stem) != std::string_view::npos && name.starts_with(kHuggingFaceLayer);
  };
  if (isOf(".self_attn.q_proj.")) return config.heads;
  if (isOf(".self_attn.k_proj.")) return config.keyValueHeads;
  return std::nullopt;
}

/// The file pairs neighbouring rows of a head, and Hugging Face pairs rows half a head apart. Row 2 i + h of
/// a head becomes row h · headSize/2 + i. `rowBytes` is the size of a row in any format.
std::unique_ptr<std::byte[]> inHalves(std::span<const std::byte> rows, std::size_t rowBytes,
                                      std::int32_t heads) {
  auto out = std::make_unique_for_overwrite<std::byte[]>(rows.size());
  const std::size_t headRows = rows.size() / rowBytes / static_cast<std::size_t>(heads);
  const std::size_t half = headRows / 2;
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
    for (std::size_t i = 0; i < half; ++i) {
      for (std::size_t h = 0; h < 2; ++h) {
        const std::size_t from = head * headRows + 2 * i + h;
        const std::size_t to = head * headRows + h * half + i;
        std::memcpy(out.get() + to * rowBytes, rows.data() + from * rowBytes, rowBytes);
      }
    }
  }
  return out;
}

class GgufWeights final : public WeightSource {
 public:
  GgufWeights(const std::filesystem::path& path, const ModelConfig& config)
      : m_file(path), m_config(config), m_naming(config, m_file.tensors().contains("blk.0.ffn_gate.weight")) {
    for (const auto& [name, located] : m_file.tensors()) m_names.emplace(m_naming.of(name), name);
    const Architecture* family = architectureByName(config.architecture);
    m_pairsRows = family != nullptr && family->pairsRowsInGguf;
  }

  bool has(const std::string& name) const override { return m_names.contains(name); }

  compute::WeightFormat formatOf(const std::string& name, std::int64_t rows,
                                 std::int64_t columns) const override {
    return find(name, rows, columns).tensor.format->format;
  }

  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    const GgufFile::Located& located = find(name, rows, columns);
    compute::HostMatrix matrix{located.tensor.data.data(), located.tensor.format->format, rows, columns};
    const std::optional<std::int32_t> heads =
        m_pairsRows ? permutedHeads(name, m_config) : std::optional<std::int32_t>();
    if (!heads) return matrix;
    auto known = m_permuted.find(name);
    if (known == m_permuted.end()) {
      // A bias has one element a row.
      const std::size_t rowBytes = rows == 1 ? compute::bytesOf(matrix.format, 1) : matrix.rowBytes();
      known = m_permuted.emplace(name, inHalves(located.tensor.data, rowBytes, *heads)).first;
    }
    matrix.data = known->second.get();
    return matrix;
  }

  void requireWhole() const override { m_file.requireWhole(); }
  void requireUnchanged() const override { m_file.requireUnchanged(); }

  std::vector<StoredTensor> stored() const override {
    std::vector<StoredTensor> tensors;
    for (const auto& [name, own] : m_names) {
      // The configuration contains the rotation of query and key vectors.
      if (!name.starts_with("rope_f")) tensors.push_back({name, m_file.tensors().at(own).file});
    }
    return tensors;
  }

  std::string fingerprint() const override {
    Digest digest;
    for (const auto& [name, located] : m_file.tensors()) {
      digest.add(name);
      digest.add(located.tensor.typeName());
      digest.add(located.tensor.shape);
      addSamples(digest, located.tensor.data);
    }
    requireWhole();
    return digest.value().hex();
  }

  std::string name() const override { return m_file.path().string(); }

 private:
  using GgufFile = checkpoint::GgufFile;

  const GgufFile::Located& find(const std::string& name, std::int64_t rows, std::int64_t columns) const {
    const auto high = static_cast<std::uint64_t>(rows);
    const auto wide = static_cast<std::uint64_t>(columns);
    const std::vector<std::uint64_t> matrix = {high, wide};
    const std::vector<std::uint64_t> vector = {wide};
    const std::string expected = checkpoint::shapeText(rows == 1 ? vector : matrix);
    const auto own = m_names.find(name);
    if (own == m_names.end()) {
      throw Failure(
          {m_file.path().string(), m_naming.inFile(name), "no such tensor", "a tensor of shape " + expected});
    }
    const GgufFile::Located& located = m_file.tensors().at(own->second);
    // Outermost dimension first, as in the rest of the engine.
    const std::vector<std::uint64_t> shape =
        flattened({located.tensor.shape.rbegin(), located.tensor.shape.rend()});
    if (shape != matrix && !(rows == 1 && shape == vector)) {
      throw Failure(
          {located.file, own->second, "shape " + checkpoint::shapeText(shape), "shape " + expected});
    }
    if (located.tensor.format == nullptr)
      throw Failure({located.file, own->second, located.tensor.typeName(), formatNames()});
    return located;
  }

  static std::string formatNames() {
    std::string names;
    for (const compute::WeightFormatInfo& info : compute::weightFormats())
      names += (names.empty() ? "one of " : ", ") + std::string(info.name);
    return names;
  }

  GgufFile m_file;
  ModelConfig m_config;
  HuggingFaceNames m_naming;
  bool m_pairsRows = false;
  std::map<std::string, std::string> m_names;  ///< from Hugging Face's name to the file's
  mutable std::map<std::string, std::unique_ptr<std::byte[]>> m_permuted;
};

}  // namespace

std::unique_ptr<WeightSource> openGguf(const std::filesystem::path& path, const ModelConfig& config) {
  return std::make_unique<GgufWeights>(path, config);
}

}  // namespace spanscope::model
