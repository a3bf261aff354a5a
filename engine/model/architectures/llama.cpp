// SPDX-License-Identifier: GPL-3.0-or-later
// Llama, and the families that differ from it in a few facts only.
#include "engine/model/architectures/architecture.h"

namespace spanscope::model {
namespace {

constexpr const char* kLlamaDefaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "eos_token_id": 2
})";

void readLlamaJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.mlpBias = config.flag("mlp_bias", false);
}

}  // namespace

extern constinit const Architecture kLlama = {.name = "LlamaForCausalLM",
                                              .modelType = "llama",
                                              .ggufName = "llama",
                                              .pairsRowsInGguf = true,
                                              .defaults = kLlamaDefaults,
                                              .readJson = &readLlamaJson,
                                              .readGguf = &readBiases};

namespace {

constexpr const char* kMistralDefaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072,
  "rms_norm_eps": 1e-6, "sliding_window": 4096, "eos_token_id": 2
})";

/// The first versions have a window in all layers. Later versions have none.
void readMistralJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attention.window = windowOf(config);
}

void readMistralGguf(const GgufKeys& /*keys*/, ModelConfig& /*result*/) {}

}  // namespace

/// GGUF files call this family llama, and do not report the window.
extern constinit const Architecture kMistral = {.name = "MistralForCausalLM",
                                                .modelType = "mistral",
                                                .ggufName = "llama",
                                                .pairsRowsInGguf = true,
                                                .defaults = kMistralDefaults,
                                                .readJson = &readMistralJson,
                                                .readGguf = &readMistralGguf};

namespace {

constexpr const char* kQwen2Defaults = R"({
  "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 32, "max_position_embeddings": 32768,
  "rms_norm_eps": 1e-6, "sliding_window": 4096, "max_window_layers": 28
})";

/// The query, key and value projections always have biases. The output of attention never has a bias.
void readQwen2Biases(ModelConfig& result) {
  result.attentionBias = true;
}

void readQwen2Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  readSwitchedWindows(config, result);
  readQwen2Biases(result);
}

void readQwen2Gguf(const GgufKeys& /*keys*/, ModelConfig& result) {
  readQwen2Biases(result);
}

}  // namespace

extern constinit const Architecture kQwen2 = {.name = "Qwen2ForCausalLM",
                                              .modelType = "qwen2",
                                              .ggufName = "qwen2",
                                              .defaults = kQwen2Defaults,
                                              .readJson = &readQwen2Json,
                                              .readGguf = &readQwen2Gguf};

namespace {

constexpr const char* kQwen3Defaults = R"({
  "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016, "num_hidden_layers": 32,
  "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 128, "max_position_embeddings":
  32768, "rms_norm_eps": 1e-6, "sliding_window": 4096, "max_window_layers": 28
})";

void readQwen3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  readSwitchedWindows(config, result);
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.queryKeyNorm = QueryKeyNorm::Heads;
}

void readQwen3Gguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  result.queryKeyNorm = QueryKeyNorm::Heads;
}

}  // namespace

extern constinit const Architecture kQwen3 = {.name = "Qwen3ForCausalLM",
                                              .modelType = "qwen3",
                                              .ggufName = "qwen3",
                                              .defaults = kQwen3Defaults,
                                              .readJson = &readQwen3Json,
                                              .readGguf = &readQwen3Gguf};

namespace {

constexpr const char* kPhi3Defaults = R"({
  "vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
  "num_attention_heads": 32, "max_position_embeddings": 4096, "original_max_position_embeddings":
  4096, "rms_norm_eps": 1e-5, "eos_token_id": 32000
})";

void readPhi3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  if (config.flag("attention_bias", false)) {
    throw config.field("attention_bias").fail("true", "false: the family has no biases");
  }
  result.attention.window = windowOf(config);
}

void readPhi3Gguf(const GgufKeys& keys, ModelConfig& result) {
  result.attention.window = keys.window();
}

}  // namespace

extern constinit const Architecture kPhi3 = {.name = "Phi3ForCausalLM",
                                             .modelType = "phi3",
                                             .ggufName = "phi3",
                                             .defaults = kPhi3Defaults,
                                             .readJson = &readPhi3Json,
                                             .readGguf = &readPhi3Gguf};

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

extern constinit const Architecture kGranite = {.name = "GraniteForCausalLM",
                                                .modelType = "granite",
                                                .ggufName = "granite",
                                                .pairsRowsInGguf = true,
                                                .defaults = kGraniteDefaults,
                                                .readJson = &readGraniteJson,
                                                .readGguf = &readGraniteGguf};

namespace {

constexpr const char* kGraniteMoeDefaults = R"({
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "eos_token_id": 2,
  "num_local_experts": 8, "num_experts_per_tok": 2
})";

void readGraniteMoeJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  readGraniteJson(config, result);
  readExperts(config, "num_local_experts", result);
}

void readGraniteMoeSharedJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  readGraniteMoeJson(config, result);
  result.experts.sharedSize = narrow(config.integer("shared_intermediate_size", 0, kMaxIntermediateSize, 0));
}

void readGraniteMoeGguf(const GgufKeys& keys, ModelConfig& result) {
  readGraniteGguf(keys, result);
  readExperts(keys, result);
  result.experts.sharedSize = narrow(keys.count("expert_shared_feed_forward_length", kMaxIntermediateSize));
}

}  // namespace

extern constinit const Architecture kGraniteMoe = {.name = "GraniteMoeForCausalLM",
                                                   .modelType = "granitemoe",
                                                   .ggufName = "granitemoe",
                                                   .pairsRowsInGguf = true,
                                                   .defaults = kGraniteMoeDefaults,
                                                   .readJson = &readGraniteMoeJson,
                                                   .readGguf = &readGraniteMoeGguf};

extern constinit const Architecture kGraniteMoeShared = {.name = "GraniteMoeSharedForCausalLM",
                                                         .modelType = "granitemoeshared",
                                                         .ggufName = "granitemoe",
                                                         .pairsRowsInGguf = true,
                                                         .defaults = kGraniteMoeDefaults,
                                                         .readJson = &readGraniteMoeSharedJson,
                                                         .readGguf = &readGraniteMoeGguf};

}  // namespace spanscope::model
