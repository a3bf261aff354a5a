// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"
#include "engine/model/config_limits.h"

namespace spanscope::model {
namespace {

constexpr double kMostBeta = 100;

void readMistral3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attention.window = windowOf(config);
  const auto rope = config.object("rope_parameters");
  if (!rope) throw config.field("rope_parameters").fail("nothing", "how positions are turned and scaled");
  result.attention.positionScale = {
      .beta = static_cast<float>(rope->number("llama_4_scaling_beta", 0, kMostBeta)),
      .step = rope->integer("original_max_position_embeddings", 1, kMaxPositions)};
}

void readMistral3Gguf(const GgufKeys& keys, ModelConfig& result) {
  readBiases(keys, result);
  const double beta = keys.number("attention.temperature_scale", 0, kMostBeta, 0);
  if (beta == 0) return;
  result.attention.positionScale = {
      .beta = static_cast<float>(beta),
      .step = keys.integer("rope.scaling.original_context_length", kMaxPositions)};
}

}  // namespace

constinit const Architecture kMistral3 = {.name = "Ministral3ForCausalLM",
                                          .modelType = "ministral3",
                                          .ggufName = "mistral3",
                                          .pairsRowsInGguf = true,
                                          .readJson = &readMistral3Json,
                                          .readGguf = &readMistral3Gguf};

}  // namespace spanscope::model
