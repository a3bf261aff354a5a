// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"

namespace spanscope::model {
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
constinit const Architecture kMistral = {.name = "MistralForCausalLM",
                                         .modelType = "mistral",
                                         .ggufName = "llama",
                                         .pairsRowsInGguf = true,
                                         .defaults = kMistralDefaults,
                                         .readJson = &readMistralJson,
                                         .readGguf = &readMistralGguf};

}  // namespace spanscope::model
