// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

/// The first versions have a window in all layers, later ones none.
void readMistralJson(const checkpoint::JsonPlace& config, ModelConfig& result) {
  result.attention.window = windowOf(config);
}

void readMistralGguf(const GgufKeys& /*keys*/, ModelConfig& /*result*/) {}

}  // namespace

/// GGUF files call it llama, and do not tell the window.
constinit const Architecture kMistral = {.name = "MistralForCausalLM",
                                         .modelType = "mistral",
                                         .ggufName = "llama",
                                         .pairsRowsInGguf = true,
                                         .readJson = &readMistralJson,
                                         .readGguf = &readMistralGguf};

}  // namespace spanscope::model
