// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"

namespace spanscope::model {
namespace {

constexpr const char* kGraniteDefaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "eos_token_id": 2
})";

constexpr double kLeastScale = 1e-6;
constexpr double kMostScale = 1e6;

void readGraniteJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.mlpBias = config.flag("mlp_bias", false);
  const auto factor = [&config](const char* name) { return config.number(name, kLeastScale, kMostScale, 1); };
  result.embeddingScale = static_cast<float>(factor("embedding_multiplier"));
  result.residualScale = static_cast<float>(factor("residual_multiplier"));
  result.attentionScale = static_cast<float>(factor("attention_multiplier"));
  result.logitScale = static_cast<float>(1 / factor("logits_scaling"));
}

void readGraniteGguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  // This key states whether positions rotate query and key vectors at all.
  if (!keys.flag("rope.scaling.finetuned", true)) result.attention.rotary.reset();
  result.embeddingScale = static_cast<float>(keys.number("embedding_scale", kLeastScale, kMostScale, 1));
  result.residualScale = static_cast<float>(keys.number("residual_scale", kLeastScale, kMostScale, 1));
  // 0 means the usual scale here.
  result.attentionScale = static_cast<float>(keys.number("attention.scale", 0, kMostScale, 0));
  result.logitScale = static_cast<float>(1 / keys.number("logit_scale", kLeastScale, kMostScale, 1));
}

}  // namespace

constinit const Architecture kGranite = {.name = "GraniteForCausalLM",
                                         .modelType = "granite",
                                         .ggufName = "granite",
                                         .pairsRowsInGguf = true,
                                         .defaults = kGraniteDefaults,
                                         .readJson = &readGraniteJson,
                                         .readGguf = &readGraniteGguf};

}  // namespace spanscope::model
