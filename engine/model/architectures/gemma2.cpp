// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"

#include <cmath>

namespace spanscope::model {
namespace {

constexpr const char* kGemma2Defaults = R"({
  "vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216, "num_hidden_layers": 26,
  "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256, "hidden_activation":
  "gelu_pytorch_tanh", "max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "tie_word_embeddings": true,
  "query_pre_attn_scalar": 256, "sliding_window": 4096, "attn_logit_softcapping": 50.0,
  "final_logit_softcapping": 30.0, "eos_token_id": 1
})";

/// Every second layer has no window.
constexpr std::int64_t kPeriod = 2;
constexpr double kMostCap = 1e6;

void setFacts(ModelConfig& result, const std::vector<bool>& windowed, std::int32_t window) {
  result.norms = NormPlace::Around;
  result.embeddingScale = std::sqrt(static_cast<float>(result.hiddenSize));
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer)
    kinds[layer].window = windowed[layer] ? window : 0;
  setKinds(result, kinds);
}

void readGemma2Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  refuseBidirectional(config);
  result.attentionScale =
      static_cast<float>(1 / std::sqrt(config.number("query_pre_attn_scalar", 1, kMaxHiddenSize, 256)));
  result.attentionCap = static_cast<float>(config.number("attn_logit_softcapping", 0, kMostCap, 0));
  result.logitCap = static_cast<float>(config.number("final_logit_softcapping", 0, kMostCap, 0));
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  std::vector<bool> windowed = windowedLayers(config, result);
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back((layer + 1) % kPeriod != 0);
  setFacts(result, windowed, windowOf(config));
}

void readGemma2Gguf(const GgufKeys& keys, ModelConfig& result) {
  result.activation = compute::Activation::GeluTanh;
  // The largest model has 46 layers, and scales scores by the width of a token. The file does not report this
  // scale. The integer division is the same as in llama.cpp.
  constexpr std::int32_t kLayersOfLargest = 46;
  if (result.layers == kLayersOfLargest)
    result.attentionScale =
        static_cast<float>(1 / std::sqrt(static_cast<double>(result.hiddenSize / result.heads)));
  result.attentionCap = static_cast<float>(keys.number("attn_logit_softcapping", 0, kMostCap, 50));
  result.logitCap = static_cast<float>(keys.number("final_logit_softcapping", 0, kMostCap, 30));
  constexpr std::int32_t kUsualWindow = 4096;
  const bool hasWindow = keys.has("attention.sliding_window");
  setFacts(result, keys.windowedLayers(result.layers, kPeriod), hasWindow ? keys.window() : kUsualWindow);
}

}  // namespace

extern constinit const Architecture kGemma2 = {.name = "Gemma2ForCausalLM",
                                               .modelType = "gemma2",
                                               .ggufName = "gemma2",
                                               .normsLackOne = true,
                                               .defaults = kGemma2Defaults,
                                               .readJson = &readGemma2Json,
                                               .readGguf = &readGemma2Gguf};

}  // namespace spanscope::model
