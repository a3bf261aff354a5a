// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/tensor_list.h"

namespace spanscope::model {

NormNames normsOf(NormPlace place) {
  switch (place) {
    case NormPlace::Before:
      return {.beforeAttention = "input_layernorm", .beforeGate = "post_attention_layernorm"};
    case NormPlace::After:
      return {.afterAttention = "post_attention_layernorm", .afterGate = "post_feedforward_layernorm"};
    case NormPlace::Around:
      break;
  }
  return {.beforeAttention = "input_layernorm",
          .afterAttention = "post_attention_layernorm",
          .beforeGate = "pre_feedforward_layernorm",
          .afterGate = "post_feedforward_layernorm"};
}

std::vector<NamedTensor> tensorsOf(const ModelConfig& config) {
  const std::int64_t hidden = config.hiddenSize;
  const std::int64_t inner = config.intermediateSize;
  const std::int64_t queryWidth = std::int64_t{config.heads} * config.headSize;
  const std::int64_t keyWidth = std::int64_t{config.keyValueHeads} * config.headSize;
  const NormNames norms = normsOf(config.norms);
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
    for (const char* const norm :
         {norms.beforeAttention, norms.afterAttention, norms.beforeGate, norms.afterGate}) {
      if (norm != nullptr) tensors.push_back({prefix + norm + ".weight", 1, hidden, true});
    }
    linear(prefix + "self_attn.q_proj", queryWidth, hidden, config.attentionBias);
    linear(prefix + "self_attn.k_proj", keyWidth, hidden, config.attentionBias);
    linear(prefix + "self_attn.v_proj", keyWidth, hidden, config.attentionBias);
    linear(prefix + "self_attn.o_proj", hidden, queryWidth, config.outputBias);
    if (config.queryKeyNorm != QueryKeyNorm::None) {
      const bool isOfHeads = config.queryKeyNorm == QueryKeyNorm::Heads;
      tensors.push_back(
          {prefix + "self_attn.q_norm.weight", 1, isOfHeads ? config.headSize : queryWidth, true});
      tensors.push_back(
          {prefix + "self_attn.k_norm.weight", 1, isOfHeads ? config.headSize : keyWidth, true});
    }
    linear(prefix + "mlp.gate_proj", inner, hidden, config.mlpBias);
    linear(prefix + "mlp.up_proj", inner, hidden, config.mlpBias);
    linear(prefix + "mlp.down_proj", hidden, inner, config.mlpBias);
  }
  return tensors;
}

}  // namespace spanscope::model
