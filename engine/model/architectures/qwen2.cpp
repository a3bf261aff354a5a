// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

/// Queries, keys and values always have biases, what is attended never has one.
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
                                       .readJson = &readQwen2Json,
                                       .readGguf = &readQwen2Gguf};

}  // namespace spanscope::model
