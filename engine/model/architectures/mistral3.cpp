// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"

namespace spanscope::model {
namespace {

constexpr const char* kMistral3Defaults = R"({
  "vocab_size": 131072, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 34,
  "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "max_position_embeddings":
  262144, "rms_norm_eps": 1e-5, "rope_parameters": {"rope_type": "yarn", "rope_theta": 1000000,
  "factor": 16, "original_max_position_embeddings": 16384, "beta_fast": 32, "beta_slow": 1,
  "mscale_all_dim": 1, "mscale": 1, "llama_4_scaling_beta": 0.1}, "eos_token_id": 2
})";

constexpr double kMostBeta = 100;

void readMistral3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attention.window = windowOf(config);
  const auto rope = config.object(config.has("rope_parameters") ? "rope_parameters" : "rope_scaling");
  if (!rope) throw config.field("rope_parameters").fail("nothing", "the rotation and scaling of positions");
  result.attention.positionScale = {
      .beta = static_cast<float>(rope->number("llama_4_scaling_beta", 0, kMostBeta)),
      .step = rope->integer("original_max_position_embeddings", 1, kMaxPositions)};
}

void readMistral3Gguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  const double beta = keys.number("attention.temperature_scale", 0, kMostBeta, 0);
  if (beta == 0) return;
  result.attention.positionScale = {
      .beta = static_cast<float>(beta),
      .step = keys.integer("rope.scaling.original_context_length", kMaxPositions, result.maxPositions)};
}

}  // namespace

extern constinit const Architecture kMistral3 = {.name = "Ministral3ForCausalLM",
                                                 .modelType = "ministral3",
                                                 .ggufName = "mistral3",
                                                 .pairsRowsInGguf = true,
                                                 .defaults = kMistral3Defaults,
                                                 .readJson = &readMistral3Json,
                                                 .readGguf = &readMistral3Gguf};

}  // namespace spanscope::model
