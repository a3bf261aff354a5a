// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

void setNorms(ModelConfig& result) {
  result.norms = NormPlace::After;
  result.queryKeyNorm = QueryKeyNorm::Rows;
}

void readOlmo2Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  setNorms(result);
}

/// Layers with a window turn without what stretches the context.
AttentionKind withWindow(AttentionKind kind, std::int32_t window) {
  RotarySpec plain;
  if (kind.rotary) plain.theta = kind.rotary->theta;
  kind.rotary = plain;
  kind.window = window;
  return kind;
}

constexpr std::int64_t kOlmo3Period = 4;

void setOlmo3Windows(ModelConfig& result, std::vector<bool> windowed, std::int32_t window) {
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back((layer + 1) % kOlmo3Period != 0);
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
    if (windowed[layer] && window > 0) kinds[layer] = withWindow(result.attention, window);
  }
  setKinds(result, kinds);
}

void readOlmo3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  readOlmo2Json(config, result);
  setOlmo3Windows(result, windowedLayers(config, result), windowOf(config));
}

/// Both versions are called olmo2 there.
void readOlmoGguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  setNorms(result);
  if (keys.window() > 0) setOlmo3Windows(result, {}, keys.window());
}

}  // namespace

constinit const Architecture kOlmo2 = {.name = "Olmo2ForCausalLM",
                                       .modelType = "olmo2",
                                       .ggufName = "olmo2",
                                       .readJson = &readOlmo2Json,
                                       .readGguf = &readOlmoGguf};

constinit const Architecture kOlmo3 = {.name = "Olmo3ForCausalLM",
                                       .modelType = "olmo3",
                                       .ggufName = "olmo2",
                                       .readJson = &readOlmo3Json,
                                       .readGguf = &readOlmoGguf};

}  // namespace spanscope::model
