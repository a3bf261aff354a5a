// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

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
                                       .readJson = &readQwen3Json,
                                       .readGguf = &readQwen3Gguf};

}  // namespace spanscope::model
