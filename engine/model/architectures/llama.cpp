// SPDX-License-Identifier: GPL-3.0-or-later
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

constinit const Architecture kLlama = {.name = "LlamaForCausalLM",
                                       .modelType = "llama",
                                       .ggufName = "llama",
                                       .pairsRowsInGguf = true,
                                       .defaults = kLlamaDefaults,
                                       .readJson = &readLlamaJson,
                                       .readGguf = &readBiases};

}  // namespace spanscope::model
