// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"
#include "engine/model/rotary_reading.h"

#include <cmath>

namespace spanscope::model {
namespace {

constexpr const char* kGemma3Defaults = R"({
  "vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "hidden_activation":
  "gelu_pytorch_tanh", "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "tie_word_embeddings":
  true, "query_pre_attn_scalar": 256, "sliding_window": 4096, "sliding_window_pattern": 6,
  "rope_local_base_freq": 10000, "eos_token_id": 1
})";
constexpr double kGemma3Theta = 1000000;

constexpr std::int64_t kWindowPeriod = 6;
constexpr double kLocalTheta = 10000;

void setFacts(ModelConfig& result) {
  result.norms = NormPlace::Around;
  result.queryKeyNorm = QueryKeyNorm::Heads;
  result.embeddingScale = std::sqrt(static_cast<float>(result.hiddenSize));
}

/// Layers with a window have their own rotation frequencies.
void setLayers(ModelConfig& result, const RotarySpec& local, std::int32_t window,
               const std::vector<bool>& windowed) {
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
    if (windowed[layer]) kinds[layer] = {.rotary = local, .window = window};
  }
  setKinds(result, kinds);
}

void readGemma3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  for (const char* field : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (config.has(field)) throw config.field(field).fail("a soft cap", "no soft cap in this family");
  }
  refuseBidirectional(config);
  setFacts(result);
  result.activation = config.has("hidden_activation") ? result.activation : compute::Activation::GeluTanh;
  result.attentionScale =
      static_cast<float>(1 / std::sqrt(config.number("query_pre_attn_scalar", 1, kMaxHiddenSize, 256)));
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;

  const auto byType = config.object("rope_parameters");
  RotarySpec local{.theta = config.number("rope_local_base_freq", 1, kMaxRopeTheta, kLocalTheta)};
  if (byType && byType->has("sliding_attention"))
    local = parseRotary(config, result, local.theta, "sliding_attention");
  std::vector<bool> windowed = windowedLayers(config, result);
  const std::int64_t period = config.integer("sliding_window_pattern", 1, kMaxLayers, kWindowPeriod);
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back((layer + 1) % period != 0);
  setLayers(result, local, windowOf(config), windowed);
}

void readGemma3Gguf(const GgufKeys& keys, ModelConfig& result) {
  setFacts(result);
  result.activation = compute::Activation::GeluTanh;
  // The largest model has 62 layers, and scales scores by the width of a token. The file does not report this
  // scale. The integer division is the same as in llama.cpp.
  constexpr std::int32_t kLayersOfLargest = 62;
  if (result.layers == kLayersOfLargest)
    result.attentionScale =
        static_cast<float>(1 / std::sqrt(static_cast<double>(result.hiddenSize / result.heads)));
  // Without a window, all layers have the same rotation.
  const std::int32_t window = keys.window();
  if (window == 0) return;
  RotarySpec local{.theta = keys.number("rope.freq_base_swa", 1, kMaxRopeTheta, kLocalTheta)};
  local.turned = result.attention.rotary->turned;
  local.attentionScale = static_cast<float>(keys.number("rope.scaling.attn_factor", 1e-3, 1e6, 1));
  setLayers(result, local, window, keys.windowedLayers(result.layers, kWindowPeriod));
}

}  // namespace

extern constinit const Architecture kGemma3 = {.name = "Gemma3ForCausalLM",
                                               .modelType = "gemma3_text",
                                               .ggufName = "gemma3",
                                               .normsLackOne = true,
                                               .defaults = kGemma3Defaults,
                                               .ropeTheta = kGemma3Theta,
                                               .readJson = &readGemma3Json,
                                               .readGguf = &readGemma3Gguf};

}  // namespace spanscope::model
