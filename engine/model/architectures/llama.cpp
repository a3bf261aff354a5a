// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

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
                                       .readJson = &readLlamaJson,
                                       .readGguf = &readBiases};

}  // namespace spanscope::model
