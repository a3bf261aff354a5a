// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"

namespace spanscope::model {
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

constinit const Architecture kPhi3 = {.name = "Phi3ForCausalLM",
                                      .modelType = "phi3",
                                      .ggufName = "phi3",
                                      .defaults = kPhi3Defaults,
                                      .readJson = &readPhi3Json,
                                      .readGguf = &readPhi3Gguf};

}  // namespace spanscope::model
