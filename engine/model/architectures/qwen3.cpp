// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"

namespace spanscope::model {
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

constinit const Architecture kQwen3 = {.name = "Qwen3ForCausalLM",
                                       .modelType = "qwen3",
                                       .ggufName = "qwen3",
                                       .defaults = kQwen3Defaults,
                                       .readJson = &readQwen3Json,
                                       .readGguf = &readQwen3Gguf};

}  // namespace spanscope::model
