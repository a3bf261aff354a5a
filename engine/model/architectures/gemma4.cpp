// SPDX-License-Identifier: GPL-3.0-or-later
// Gemma 4 without pictures, sound or experts.
#include "engine/base/counted.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"
#include "engine/model/rotary_reading.h"

#include <algorithm>
#include <cmath>

namespace spanscope::model {
namespace {

constexpr const char* kGemma4Defaults = R"({
  "vocab_size": 262144, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 30,
  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "hidden_activation":
  "gelu_pytorch_tanh", "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "tie_word_embeddings": true,
  "sliding_window": 512, "vocab_size_per_layer_input": 262144, "hidden_size_per_layer_input": 256,
  "num_kv_shared_layers": 0, "eos_token_id": 1, "rope_parameters": {
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
    "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25, "rope_theta": 1000000.0}}
})";

constexpr double kTheta = 1000000;
constexpr double kLocalTheta = 10000;
constexpr std::int64_t kPeriod = 6;
constexpr std::int64_t kGlobalHeadSize = 512;
constexpr double kMostCap = 1e6;

void setFacts(ModelConfig& result) {
  result.norms = NormPlace::Around;
  result.queryKeyNorm = QueryKeyNorm::Heads;
  result.valueNorm = true;
  result.activation = compute::Activation::GeluTanh;
  result.embeddingScale = std::sqrt(static_cast<float>(result.hiddenSize));
  result.attentionScale = 1;
}

/// The heads of a layer, if they differ from the heads of the model.
void setHeads(AttentionKind& kind, const ModelConfig& model, std::int64_t headSize, std::int64_t keyHeads) {
  kind.headSize = headSize == model.headSize ? 0 : narrow(headSize);
  kind.keyValueHeads = keyHeads == model.keyValueHeads ? 0 : narrow(keyHeads);
}

/// Returns what is wrong with the layers, or an empty text.
std::string faultOf(const ModelConfig& model) {
  // Layers name their kinds by a byte.
  constexpr std::size_t kMostKinds = 256;
  if (model.kinds() > kMostKinds) return counted(model.kinds(), "kind") + " of layers";
  for (std::size_t i = 0; i < model.kinds(); ++i) {
    const AttentionKind& kind = model.kind(i);
    if (model.headSizeOf(kind) % 2 != 0) return "a head of " + counted(model.headSizeOf(kind), "element");
    if (model.heads % model.keyValueHeadsOf(kind) != 0)
      return counted(model.keyValueHeadsOf(kind), "key head") + " for " + counted(model.heads, "query head");
  }
  for (std::int32_t layer = model.storingLayers(); layer < model.layers; ++layer) {
    if (model.kindOf(model.keyLayerOf(layer)) != model.kindOf(layer))
      return "layer " + std::to_string(layer) + ", whose keys and values no earlier layer has";
  }
  return {};
}

constexpr const char* kExpectedLayers =
    "even heads, key heads that divide the query heads, and keys and values for each kind of layer";

void readGemma4Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  if (config.flag("enable_moe_block", false))
    throw config.field("enable_moe_block").fail("experts", "a dense model. Experts are not supported");
  if (config.text("use_bidirectional_attention") == std::optional<std::string>("all"))
    throw config.field("use_bidirectional_attention").fail("\"all\"", "tokens that attend to earlier tokens");
  setFacts(result);
  result.layerScale = true;
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.logitCap = static_cast<float>(config.number("final_logit_softcapping", 0, kMostCap, 0));
  result.perLayerSize = narrow(config.integer("hidden_size_per_layer_input", 0, kMaxHiddenSize, 0));
  if (result.perLayerSize > 0 &&
      config.integer("vocab_size_per_layer_input", 1, kMaxVocabulary) != result.vocabularySize) {
    throw config.field("vocab_size_per_layer_input")
        .fail("another number of tokens", std::to_string(result.vocabularySize) + ", as in vocab_size");
  }
  result.sharingLayers = narrow(config.integer("num_kv_shared_layers", 0, result.layers - 1, 0));
  result.sharingIsWide = config.flag("use_double_wide_mlp", false);

  std::vector<bool> windowed = windowedLayers(config, result);
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back((layer + 1) % kPeriod != 0);
  windowed.back() = false;
  const bool valuesAreKeys = config.flag("attention_k_eq_v", false);
  // Newer files have the heads by layer.
  const auto byLayer = config.object("per_layer_config");
  std::vector<AttentionKind> kinds;
  for (std::size_t layer = 0; layer < windowed.size(); ++layer) {
    std::int64_t headSize = result.headSize;
    std::int64_t keyHeads = result.keyValueHeads;
    if (byLayer) {
      if (const auto own = byLayer->object(std::to_string(layer))) {
        headSize = own->integer("head_dim", 2, kMaxHeadSize, headSize);
        keyHeads = own->integer("num_key_value_heads", 1, kMaxHeads, keyHeads);
      }
    } else if (!windowed[layer]) {
      headSize = config.integer("global_head_dim", 2, kMaxHeadSize, kGlobalHeadSize);
      if (valuesAreKeys) keyHeads = config.integer("num_global_key_value_heads", 1, kMaxHeads, keyHeads);
    }
    ModelConfig ofLayer = result;
    ofLayer.headSize = narrow(headSize);
    AttentionKind kind{.rotary = windowed[layer]
                                     ? parseRotary(config, ofLayer, kLocalTheta, "sliding_attention")
                                     : parseRotary(config, ofLayer, kTheta),
                       .window = windowed[layer] ? windowOf(config) : 0};
    kind.valuesAreKeys = valuesAreKeys && !windowed[layer];
    setHeads(kind, result, headSize, keyHeads);
    kinds.push_back(kind);
  }
  setKinds(result, kinds);
  if (std::string fault = faultOf(result); !fault.empty())
    throw config.field("layer_types").fail(std::move(fault), kExpectedLayers);
}

void readGemma4Gguf(const GgufKeys& keys, ModelConfig& result) {
  setFacts(result);
  readBiases(keys, result);
  result.layerScale = keys.hasTensor("blk.0.layer_output_scale.weight");
  result.logitCap = static_cast<float>(keys.number("final_logit_softcapping", 0, kMostCap, 0));
  result.perLayerSize = narrow(keys.count("embedding_length_per_layer_input", kMaxHiddenSize));
  result.sharingLayers = narrow(keys.count("attention.shared_kv_layers", result.layers - 1));
  const std::vector<std::int64_t> inner =
      keys.byLayer("feed_forward_length", kMaxIntermediateSize, result.layers);
  result.sharingIsWide = result.sharingLayers > 0 && inner.back() == 2 * inner.front();
  for (std::int32_t layer = 0; layer < result.layers; ++layer) {
    const std::int64_t size = inner[static_cast<std::size_t>(layer)];
    if (size != result.intermediateSizeOf(layer)) {
      throw keys.fail("feed_forward_length", std::to_string(size) + " in layer " + std::to_string(layer),
                      std::to_string(result.intermediateSizeOf(layer)));
    }
  }
  // The other keys of heads and rotations describe the layers without a window.
  const AttentionKind global = result.attention;
  const std::int64_t globalHeadSize = result.headSize;
  const std::int64_t size = keys.integer("attention.key_length_swa", kMaxHeadSize, globalHeadSize);
  if (keys.integer("attention.value_length_swa", kMaxHeadSize, size) != size)
    throw keys.fail("attention.value_length_swa", "another length", "the length of the keys");
  result.headSize = narrow(size);
  AttentionKind local{
      .rotary = RotarySpec{.theta = keys.number("rope.freq_base_swa", 1, kMaxRopeTheta, kLocalTheta)},
      .window = keys.window()};
  const std::int64_t turned = keys.integer("rope.dimension_count_swa", size, size);
  if (turned % 2 != 0) throw keys.fail("rope.dimension_count_swa", std::to_string(turned), "an even number");
  if (turned != size)
    throw keys.fail("rope.dimension_count_swa", std::to_string(turned),
                    std::to_string(size) + ": all elements of a head");
  const std::vector<bool> windowed = keys.windowedLayers(result.layers, kPeriod);
  const std::vector<std::int64_t> keyHeads =
      keys.byLayer("attention.head_count_kv", kMaxHeads, result.layers, result.heads);
  result.keyValueHeads = narrow(keyHeads.front());
  std::vector<AttentionKind> kinds;
  for (std::size_t layer = 0; layer < windowed.size(); ++layer) {
    AttentionKind kind = windowed[layer] ? local : global;
    setHeads(kind, result, windowed[layer] ? size : globalHeadSize, keyHeads[layer]);
    // Whether a layer without keys would have values does not matter.
    const auto storing = static_cast<std::size_t>(result.storingLayers());
    kind.valuesAreKeys =
        layer < storing && !keys.hasTensor("blk." + std::to_string(layer) + ".attn_v.weight");
    if (layer >= storing) {
      for (std::size_t other = 0; other < storing; ++other) {
        if (windowed[other] == windowed[layer]) kind.valuesAreKeys = kinds[other].valuesAreKeys;
      }
    }
    kinds.push_back(kind);
  }
  setKinds(result, kinds);
  if (std::string fault = faultOf(result); !fault.empty())
    throw keys.fail("attention.sliding_window_pattern", std::move(fault), kExpectedLayers);
}

}  // namespace

extern constinit const Architecture kGemma4 = {.name = "Gemma4ForCausalLM",
                                               .modelType = "gemma4_text",
                                               .ggufName = "gemma4",
                                               .defaults = kGemma4Defaults,
                                               .ropeTheta = kTheta,
                                               .readJson = &readGemma4Json,
                                               .readGguf = &readGemma4Gguf};

}  // namespace spanscope::model
