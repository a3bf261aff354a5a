// SPDX-License-Identifier: GPL-3.0-or-later
// Command R7B and Command A, without pictures or experts.
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"

namespace spanscope::model {
namespace {

constexpr const char* kCohere2Defaults = R"({
  "vocab_size": 256000, "hidden_size": 8192, "intermediate_size": 22528, "num_hidden_layers": 40,
  "num_attention_heads": 64, "max_position_embeddings": 8192, "layer_norm_eps": 1e-5, "logit_scale": 0.0625,
  "tie_word_embeddings": true, "sliding_window": 4096, "sliding_window_pattern": 4, "eos_token_id": 255001
})";

constexpr std::int64_t kPeriod = 4;
constexpr double kLeastScale = 1e-6;
constexpr double kMostScale = 1e6;
constexpr double kLeastEpsilon = 1e-12;

/// Only layers with a window have positions.
void setFacts(ModelConfig& result, const std::vector<bool>& windowed, std::int32_t window) {
  result.norms = NormPlace::Shared;
  result.normKind = NormKind::Layer;
  result.pairsAdjacent = true;
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
    if (windowed[layer]) {
      kinds[layer].window = window;
    } else {
      kinds[layer].rotary.reset();
    }
  }
  setKinds(result, kinds);
}

void readCohere2Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.normEpsilon = static_cast<float>(config.number("layer_norm_eps", kLeastEpsilon, 1, 1e-5));
  result.logitScale = static_cast<float>(config.number("logit_scale", kLeastScale, kMostScale, 1));
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  std::vector<bool> windowed = windowedLayers(config, result);
  const std::int64_t period = config.integer("sliding_window_pattern", 1, kMaxLayers, kPeriod);
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back((layer + 1) % period != 0);
  setFacts(result, windowed, windowOf(config));
}

void readCohere2Gguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  result.normEpsilon =
      static_cast<float>(keys.number("attention.layer_norm_epsilon", kLeastEpsilon, 1, 1e-5));
  result.logitScale = static_cast<float>(keys.number("logit_scale", kLeastScale, kMostScale, 1));
  setFacts(result, keys.windowedLayers(result.layers, kPeriod), keys.window());
}

}  // namespace

extern constinit const Architecture kCohere2 = {.name = "Cohere2ForCausalLM",
                                                .modelType = "cohere2",
                                                .ggufName = "cohere2",
                                                .defaults = kCohere2Defaults,
                                                .readJson = &readCohere2Json,
                                                .readGguf = &readCohere2Gguf};

}  // namespace spanscope::model
