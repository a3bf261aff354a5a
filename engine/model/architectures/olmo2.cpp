// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/architecture.h"
#include "engine/model/rotary_reading.h"

namespace spanscope::model {
namespace {

constexpr const char* kOlmo2Defaults = R"({
  "vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "eos_token_id": 50279
})";
constexpr const char* kOlmo3Defaults = R"({
  "vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
  "num_attention_heads": 32, "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "sliding_window":
  4096, "eos_token_id": 50279
})";
constexpr double kOlmo3Theta = 500000;

void setNorms(ModelConfig& result) {
  result.norms = NormPlace::After;
  result.queryKeyNorm = QueryKeyNorm::Rows;
}

void readOlmo2Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  setNorms(result);
}

constexpr std::int64_t kOlmo3Period = 4;

/// Layers with a window have their own frequencies. Their frequencies are the frequencies of the other layers
/// without the scaling that extends the context.
void setOlmo3Windows(ModelConfig& result, std::vector<bool> windowed, const AttentionKind& local) {
  for (std::int32_t layer = static_cast<std::int32_t>(windowed.size()); layer < result.layers; ++layer)
    windowed.push_back((layer + 1) % kOlmo3Period != 0);
  std::vector<AttentionKind> kinds(windowed.size(), result.attention);
  for (std::size_t layer = 0; layer < kinds.size(); ++layer) {
    if (windowed[layer]) kinds[layer] = local;
  }
  setKinds(result, kinds);
}

void readOlmo3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  readOlmo2Json(config, result);
  AttentionKind local{.rotary = RotarySpec{.theta = kOlmo3Theta}, .window = windowOf(config)};
  const auto byType = config.object("rope_parameters");
  if (byType && byType->has("sliding_attention"))
    local.rotary = parseRotary(config, result, kOlmo3Theta, "sliding_attention");
  setOlmo3Windows(result, windowedLayers(config, result), local);
}

/// GGUF files call both versions olmo2.
void readOlmoGguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  setNorms(result);
  const std::int32_t window = keys.window();
  if (window == 0) return;
  const RotarySpec& whole = *result.attention.rotary;
  const AttentionKind local{.rotary = RotarySpec{.theta = whole.theta, .turned = whole.turned},
                            .window = window};
  setOlmo3Windows(result, keys.windowedLayers(result.layers, kOlmo3Period), local);
}

}  // namespace

extern constinit const Architecture kOlmo2 = {.name = "Olmo2ForCausalLM",
                                              .modelType = "olmo2",
                                              .ggufName = "olmo2",
                                              .defaults = kOlmo2Defaults,
                                              .readJson = &readOlmo2Json,
                                              .readGguf = &readOlmoGguf};

extern constinit const Architecture kOlmo3 = {.name = "Olmo3ForCausalLM",
                                              .modelType = "olmo3",
                                              .ggufName = "olmo2",
                                              .defaults = kOlmo3Defaults,
                                              .ropeTheta = kOlmo3Theta,
                                              .readJson = &readOlmo3Json,
                                              .readGguf = &readOlmoGguf};

}  // namespace spanscope::model
