// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

/// Later versions have no window, as the field says.
void readMistralJson(const checkpoint::JsonPlace& config, ModelConfig& /*result*/) {
  if (config.has("sliding_window")) {
    throw config.field("sliding_window")
        .fail("a window of so many tokens", "null; windows are not supported");
  }
}

void readMistralGguf(const checkpoint::GgufFile& /*file*/, ModelConfig& /*result*/) {}

}  // namespace

/// GGUF files call it llama.
constinit const Architecture kMistral = {.name = "MistralForCausalLM",
                                         .modelType = "mistral",
                                         .ggufName = "llama",
                                         .pairsRowsInGguf = true,
                                         .readJson = &readMistralJson,
                                         .readGguf = &readMistralGguf};

}  // namespace spanscope::model
