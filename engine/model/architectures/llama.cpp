// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

void readLlamaJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.mlpBias = config.flag("mlp_bias", false);
}

void readLlamaGguf(const checkpoint::GgufFile& file, ModelConfig& result) {
  result.attentionBias = file.tensors().contains("blk.0.attn_q.bias");
  result.outputBias = file.tensors().contains("blk.0.attn_output.bias");
  result.mlpBias = file.tensors().contains("blk.0.ffn_gate.bias");
}

}  // namespace

constinit const Architecture kLlama = {.name = "LlamaForCausalLM",
                                       .modelType = "llama",
                                       .ggufName = "llama",
                                       .pairsRowsInGguf = true,
                                       .readJson = &readLlamaJson,
                                       .readGguf = &readLlamaGguf};

}  // namespace spanscope::model
