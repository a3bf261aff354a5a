// SPDX-License-Identifier: GPL-3.0-or-later
// GLM-4 (0414) without pictures or experts.
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"

namespace spanscope::model {
namespace {

constexpr const char* kGlm4Defaults = R"({
  "vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696, "num_hidden_layers": 40,
  "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128, "max_position_embeddings": 131072,
  "rms_norm_eps": 1.5625e-7, "attention_bias": true, "partial_rotary_factor": 0.5,
  "eos_token_id": [151329, 151336, 151338]
})";

void setFacts(ModelConfig& result) {
  result.norms = NormPlace::AroundParts;
  result.pairsAdjacent = true;
}

void readGlm4Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  setFacts(result);
  result.attentionBias = config.flag("attention_bias", false);
}

void readGlm4Gguf(const GgufKeys& keys, ModelConfig& result) {
  setFacts(result);
  readBiases(keys, result);
}

}  // namespace

extern constinit const Architecture kGlm4 = {.name = "Glm4ForCausalLM",
                                             .modelType = "glm4",
                                             .ggufName = "glm4",
                                             .defaults = kGlm4Defaults,
                                             .readJson = &readGlm4Json,
                                             .readGguf = &readGlm4Gguf};

}  // namespace spanscope::model
