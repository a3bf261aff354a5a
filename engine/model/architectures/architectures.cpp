// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"

#include <algorithm>
#include <array>
#include <vector>

namespace spanscope::model {
namespace {

constexpr std::array kArchitectures = {&kLlama,    &kMistral,    &kMistral3, &kQwen2,  &kQwen3,   &kGemma3,
                                       &kQwen3Moe, &kPhi3,       &kGranite,  &kOlmo2,  &kOlmo3,   &kSmolLm3,
                                       &kGptOss,   &kGraniteMoe, &kGlm4,     &kGemma2, &kCohere2, &kGemma4};

const Architecture* find(const char* const Architecture::*field, std::string_view wanted) {
  const auto found =
      std::ranges::find_if(kArchitectures, [&](const Architecture* one) { return one->*field == wanted; });
  return found == kArchitectures.end() ? nullptr : *found;
}

/// Each name once: "a", "b" or "c".
std::string listed(const char* const Architecture::*field) {
  std::vector<std::string> names;
  for (const Architecture* one : kArchitectures) {
    std::string name = checkpoint::inQuotes(one->*field);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  return text;
}

}  // namespace

const Architecture* architectureByName(std::string_view name) {
  return find(&Architecture::name, name);
}
const Architecture* architectureByModelType(std::string_view type) {
  return find(&Architecture::modelType, type);
}
const Architecture* architectureByGguf(std::string_view name) {
  return find(&Architecture::ggufName, name);
}

std::string modelTypes() {
  return listed(&Architecture::modelType);
}
std::string ggufArchitectures() {
  return listed(&Architecture::ggufName);
}

std::int32_t windowOf(const checkpoint::JsonPlace& config) {
  return narrow(config.integer("sliding_window", 1, kMaxPositions, 0));
}

std::vector<bool> windowedLayers(const checkpoint::JsonPlace& config, const ModelConfig& model) {
  const std::vector<std::string> kinds = config.texts("layer_types");
  const checkpoint::JsonPlace place = config.field("layer_types");
  if (!kinds.empty() && kinds.size() != static_cast<std::size_t>(model.layers))
    throw place.fail(counted(kinds.size(), "kind"), "one for each of " + counted(model.layers, "layer"));
  std::vector<bool> windowed;
  for (const std::string& kind : kinds) {
    const bool hasWindow = kind == "sliding_attention";
    if (!hasWindow && kind != "full_attention") {
      throw place.fail("layers of the kind " + checkpoint::inQuotes(kind),
                       "\"full_attention\" or \"sliding_attention\"");
    }
    windowed.push_back(hasWindow);
  }
  return windowed;
}

void refuseBidirectional(const checkpoint::JsonPlace& config) {
  if (!config.flag("use_bidirectional_attention", false)) return;
  throw config.field("use_bidirectional_attention")
      .fail("true",
            "false: an encoder's tokens attend to later tokens, so their keys and values cannot be reused");
}

void readSwitchedWindows(const checkpoint::JsonPlace& config, ModelConfig& result) {
  std::vector<bool> windowed = windowedLayers(config, result);
  if (!config.flag("use_sliding_window", false)) {
    if (std::ranges::find(windowed, true) == windowed.end()) return;
    throw config.field("layer_types")
        .fail("layers with a window", "only layers without a window, because use_sliding_window is off");
  }
  const std::int64_t first = config.integer("max_window_layers", 0, kMaxLayers, kMaxLayers);
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back(layer >= first);
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer)
    kinds[layer].window = windowed[layer] ? windowOf(config) : 0;
  setKinds(result, kinds);
}

void setKinds(ModelConfig& config, const std::vector<AttentionKind>& byLayer) {
  config.attention = byLayer.front();
  config.otherKinds.clear();
  config.layerKinds.clear();
  for (const AttentionKind& kind : byLayer) {
    std::size_t index = 0;
    while (index < config.kinds() && config.kind(index) != kind) ++index;
    if (index == config.kinds()) config.otherKinds.push_back(kind);
    config.layerKinds.push_back(static_cast<std::uint8_t>(index));
  }
  if (config.otherKinds.empty()) config.layerKinds.clear();
}

void readBiases(const GgufKeys& keys, ModelConfig& result) {
  result.attentionBias = keys.hasTensor("blk.0.attn_q.bias");
  result.outputBias = keys.hasTensor("blk.0.attn_output.bias");
  result.mlpBias = keys.hasTensor("blk.0.ffn_up.bias");
}

}  // namespace spanscope::model
