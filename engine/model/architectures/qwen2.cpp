// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"

namespace spanscope::model {
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

constinit const Architecture kQwen2 = {.name = "Qwen2ForCausalLM",
                                       .modelType = "qwen2",
                                       .ggufName = "qwen2",
                                       .defaults = kQwen2Defaults,
                                       .readJson = &readQwen2Json,
                                       .readGguf = &readQwen2Gguf};

}  // namespace spanscope::model
