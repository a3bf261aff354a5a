// SPDX-License-Identifier: GPL-3.0-or-later
// The families with mixtures of experts, except Granite's (llama.cpp).
#include "engine/base/counted.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"

#include <utility>
#include <vector>

namespace spanscope::model {
namespace {

/// Checks that a router can choose the experts.
void checkExperts(const Experts& experts, const Failure& failure) {
  if (experts.choice.used > experts.count) throw failure;
}

}  // namespace

void readExperts(const checkpoint::JsonPlace& config, const char* countField, ModelConfig& result) {
  result.experts.count = narrow(config.integer(countField, 2, kMaxExperts));
  result.experts.choice.used = narrow(config.integer("num_experts_per_tok", 1, kMaxExperts));
  checkExperts(result.experts, config.field("num_experts_per_tok")
                                   .fail(std::to_string(result.experts.choice.used),
                                         "at most the " + counted(result.experts.count, "expert")));
}

void readExperts(const GgufKeys& keys, ModelConfig& result) {
  result.experts.count = narrow(keys.integer("expert_count", kMaxExperts));
  result.experts.choice.used = narrow(keys.integer("expert_used_count", kMaxExperts));
  checkExperts(result.experts, keys.fail("expert_used_count", std::to_string(result.experts.choice.used),
                                         "at most the " + counted(result.experts.count, "expert")));
  result.intermediateSize =
      narrow(keys.integer("expert_feed_forward_length", kMaxIntermediateSize, result.intermediateSize));
}

namespace {

constexpr const char* kQwen3MoeDefaults = R"({
  "vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144, "num_hidden_layers": 24,
  "num_attention_heads": 32, "num_key_value_heads": 4, "max_position_embeddings": 32768,
  "rms_norm_eps": 1e-6, "sliding_window": 4096, "max_window_layers": 28, "moe_intermediate_size": 768,
  "num_experts_per_tok": 8, "num_experts": 128, "norm_topk_prob": false, "decoder_sparse_step": 1
})";

void readQwen3MoeJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  readSwitchedWindows(config, result);
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.queryKeyNorm = QueryKeyNorm::Heads;
  result.intermediateSize = narrow(config.integer("moe_intermediate_size", 1, kMaxIntermediateSize));
  readExperts(config, config.has("num_local_experts") ? "num_local_experts" : "num_experts", result);
  result.experts.choice.isNormalised = config.flag("norm_topk_prob", false);
  const std::int64_t step = config.integer("decoder_sparse_step", 1, kMaxLayers, 1);
  if (step != 1)
    throw config.field("decoder_sparse_step").fail(std::to_string(step), "1: experts in every layer");
  if (!config.integers("mlp_only_layers", 0, kMaxLayers).empty())
    throw config.field("mlp_only_layers").fail("layers without experts", "experts in every layer");
}

/// The file does not have the flag `norm_topk_prob`. llama.cpp computes as if it were set.
void readQwen3MoeGguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  result.queryKeyNorm = QueryKeyNorm::Heads;
  readExperts(keys, result);
}

}  // namespace

extern constinit const Architecture kQwen3Moe = {.name = "Qwen3MoeForCausalLM",
                                                 .modelType = "qwen3_moe",
                                                 .ggufName = "qwen3moe",
                                                 .defaults = kQwen3MoeDefaults,
                                                 .readJson = &readQwen3MoeJson,
                                                 .readGguf = &readQwen3MoeGguf};

namespace {

constexpr const char* kGptOssDefaults = R"({
  "vocab_size": 201088, "hidden_size": 2880, "intermediate_size": 2880, "num_hidden_layers": 36,
  "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64, "max_position_embeddings": 131072,
  "rms_norm_eps": 1e-5, "sliding_window": 128, "num_local_experts": 128, "num_experts_per_tok": 4,
  "attention_bias": true, "rope_parameters": {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0,
  "beta_slow": 1.0, "truncate": false, "original_max_position_embeddings": 4096}
})";
constexpr double kGptOssTheta = 150000;
constexpr std::int64_t kGptOssPeriod = 2;

void setGptOssFacts(ModelConfig& result, std::int32_t window, std::vector<bool> windowed) {
  result.mlpBias = true;
  result.experts.routerBias = true;
  result.attentionSinks = true;
  result.activation = compute::Activation::ClampedSwiglu;
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back((layer + 1) % kGptOssPeriod != 0);
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer)
    kinds[layer].window = windowed[layer] ? window : 0;
  setKinds(result, kinds);
}

void readGptOssJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  constexpr double kMost = 1e6;
  for (const auto& [field, value] : {std::pair("swiglu_alpha", 1.702), std::pair("swiglu_limit", 7.0)}) {
    const double stated = config.number(field, 0, kMost, value);
    if (stated != value)
      throw config.field(field).fail(std::to_string(stated), std::to_string(value) + ", as in the family");
  }
  result.attentionBias = config.flag("attention_bias", true);
  result.outputBias = result.attentionBias;
  readExperts(config, config.has("num_experts") ? "num_experts" : "num_local_experts", result);
  setGptOssFacts(result, windowOf(config), windowedLayers(config, result));
}

void readGptOssGguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  readExperts(keys, result);
  // The file does not have the flag of the configuration.
  if (result.attention.rotary->yarn) result.attention.rotary->yarn->truncates = false;
  setGptOssFacts(result, keys.window(), keys.windowedLayers(result.layers, kGptOssPeriod));
}

}  // namespace

extern constinit const Architecture kGptOss = {.name = "GptOssForCausalLM",
                                               .modelType = "gpt_oss",
                                               .ggufName = "gpt-oss",
                                               .readsMxfp4 = true,
                                               .defaults = kGptOssDefaults,
                                               .ropeTheta = kGptOssTheta,
                                               .readJson = &readGptOssJson,
                                               .readGguf = &readGptOssGguf};

}  // namespace spanscope::model
