// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/tensor_list.h"

namespace spanscope::model {

std::vector<NamedTensor> tensorsOf(const ModelConfig& config) {
  const std::int64_t hidden = config.hiddenSize;
  const std::int64_t inner = config.intermediateSize;
  const std::int64_t queryWidth = std::int64_t{config.heads} * config.headSize;
  const std::int64_t keyWidth = std::int64_t{config.keyValueHeads} * config.headSize;
  std::vector<NamedTensor> tensors;
  const auto linear = [&tensors](const std::string& name, std::int64_t rows, std::int64_t columns,
                                 bool bias) {
    tensors.push_back({name + ".weight", rows, columns, false});
    if (bias) tensors.push_back({name + ".bias", 1, rows, false});
  };
  linear("model.embed_tokens", config.vocabularySize, hidden, false);
  if (!config.tiedEmbeddings) linear("lm_head", config.vocabularySize, hidden, false);
  tensors.push_back({"model.norm.weight", 1, hidden, true});
  for (std::int32_t i = 0; i < config.layers; ++i) {
    const std::string prefix = "model.layers." + std::to_string(i) + ".";
    tensors.push_back({prefix + "input_layernorm.weight", 1, hidden, true});
    tensors.push_back({prefix + "post_attention_layernorm.weight", 1, hidden, true});
    linear(prefix + "self_attn.q_proj", queryWidth, hidden, config.attentionBias);
    linear(prefix + "self_attn.k_proj", keyWidth, hidden, config.attentionBias);
    linear(prefix + "self_attn.v_proj", keyWidth, hidden, config.attentionBias);
    linear(prefix + "self_attn.o_proj", hidden, queryWidth, config.outputBias);
    if (config.queryKeyNorm) {
      tensors.push_back({prefix + "self_attn.q_norm.weight", 1, config.headSize, true});
      tensors.push_back({prefix + "self_attn.k_norm.weight", 1, config.headSize, true});
    }
    linear(prefix + "mlp.gate_proj", inner, hidden, config.mlpBias);
    linear(prefix + "mlp.up_proj", inner, hidden, config.mlpBias);
    linear(prefix + "mlp.down_proj", hidden, inner, config.mlpBias);
  }
  return tensors;
}

}  // namespace spanscope::model
