// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/counted.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"

namespace spanscope::model {
namespace {

constexpr const char* kSmolLm3Defaults = R"({
  "vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
  "num_attention_heads": 16, "num_key_value_heads": 4, "max_position_embeddings": 32768,
  "rms_norm_eps": 1e-6, "tie_word_embeddings": true, "no_rope_layer_interval": 4, "eos_token_id": 128001
})";
constexpr double kSmolLm3Theta = 2000000;

/// Without a list, every fourth layer does not rotate its query and key vectors.
constexpr std::size_t kTurningPeriod = 4;

void setStillLayers(ModelConfig& result, const std::vector<std::int64_t>& turns,
                    const std::vector<bool>& windowed, std::int32_t window) {
  std::vector<AttentionKind> kinds(static_cast<std::size_t>(result.layers), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
    const bool isRotated = turns.empty() ? (layer + 1) % kTurningPeriod != 0 : turns[layer] != 0;
    if (!isRotated) kinds[layer].rotary.reset();
    if (!windowed.empty() && windowed[layer]) kinds[layer].window = window;
  }
  setKinds(result, kinds);
}

void readSmolLm3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.mlpBias = config.flag("mlp_bias", false);
  // 1 means that the layer rotates, in spite of the field's name.
  std::vector<std::int64_t> turns = config.integers("no_rope_layers", 0, 1);
  const std::int64_t period = config.integer("no_rope_layer_interval", 1, kMaxLayers, kTurningPeriod);
  if (turns.empty()) {
    for (std::int32_t layer = 0; layer < result.layers; ++layer)
      turns.push_back((layer + 1) % period != 0 ? 1 : 0);
  }
  if (turns.size() != static_cast<std::size_t>(result.layers)) {
    throw config.field("no_rope_layers")
        .fail(counted(turns.size(), "entry", "entries"),
              "one for each of " + counted(result.layers, "layer"));
  }
  const bool hasWindows = config.flag("use_sliding_window", false);
  std::vector<bool> windowed;
  if (hasWindows) windowed = windowedLayers(config, result);
  if (hasWindows && windowed.empty()) {
    for (const std::int64_t turn : turns) windowed.push_back(turn == 0);
  }
  setStillLayers(result, turns, windowed, windowOf(config));
}

void readSmolLm3Gguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  setStillLayers(result, {}, {}, 0);
}

}  // namespace

extern constinit const Architecture kSmolLm3 = {.name = "SmolLM3ForCausalLM",
                                                .modelType = "smollm3",
                                                .ggufName = "smollm3",
                                                .pairsRowsInGguf = true,
                                                .defaults = kSmolLm3Defaults,
                                                .ropeTheta = kSmolLm3Theta,
                                                .readJson = &readSmolLm3Json,
                                                .readGguf = &readSmolLm3Gguf};

}  // namespace spanscope::model
