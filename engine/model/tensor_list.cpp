// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/tensor_list.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

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

namespace {

struct Extra {
  std::string_view before;  ///< the name up to the number of a layer, or all of it
  std::string_view after;   ///< the name after that number; empty without one
  bool onlyTied = false;    ///< known only where the embeddings are tied
};

constexpr std::array kExtras = {
    // transformers before 4.32 saved the frequencies of the rotary embedding with every layer. Some later
    // versions save the frequencies once. Spanscope computes the frequencies from the configuration.
    Extra{"model.layers.", ".self_attn.rotary_emb.inv_freq"},
    Extra{"model.rotary_emb.inv_freq", ""},
    // Some trainers also saved their tables of cosines and sines.
    Extra{"model.layers.", ".self_attn.rotary_emb.cos_cached"},
    Extra{"model.layers.", ".self_attn.rotary_emb.sin_cached"},
    // The same table under its second name. Some writers store shared tables twice.
    Extra{"lm_head.weight", "", true},
};

/// Whether the text is the number of one of the layers as names write it.
bool isLayer(std::string_view text, std::int32_t layers) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0 && number < layers;
}

bool fits(const Extra& extra, std::string_view name, const ModelConfig& config) {
  if (extra.onlyTied && !config.tiedEmbeddings) return false;
  if (extra.after.empty()) return name == extra.before;
  if (!name.starts_with(extra.before) || !name.ends_with(extra.after)) return false;
  if (name.size() < extra.before.size() + extra.after.size()) return false;
  name.remove_prefix(extra.before.size());
  name.remove_suffix(extra.after.size());
  return isLayer(name, config.layers);
}

}  // namespace

bool isKnownExtra(std::string_view name, const ModelConfig& config) {
  return std::any_of(kExtras.begin(), kExtras.end(),
                     [&](const Extra& extra) { return fits(extra, name, config); });
}

void refuseSurplus(const ModelConfig& config, const WeightSource& source, const std::set<std::string>& used) {
  constexpr std::size_t kNamed = 4;
  std::vector<StoredTensor> surplus = source.stored();
  std::erase_if(surplus, [&](const StoredTensor& tensor) {
    return used.contains(tensor.name) || isKnownExtra(tensor.name, config);
  });
  if (surplus.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, surplus.size()); ++i)
    names += (names.empty() ? "" : ", ") + checkpoint::inQuotes(surplus[i].name);
  if (surplus.size() > kNamed) names += " and " + std::to_string(surplus.size() - kNamed) + " more";
  throw Failure({surplus.front().file, "",
                 (surplus.size() == 1 ? "a tensor that the model does not use: "
                                      : /*id:tensors-model-no*/ "tensors that the model does not use: ") +
                     names,
                 "only the tensors of " + config.architecture + " with " + counted(config.layers, "layer") +
                     ", as config.json describes it"});
}

}  // namespace spanscope::model
