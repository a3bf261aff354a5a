// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

void readPhi3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  if (config.flag("attention_bias", false)) {
    throw config.field("attention_bias").fail("true", "false: the family has no biases");
  }
  result.attention.window = windowOf(config);
}

void readPhi3Gguf(const GgufKeys& keys, ModelConfig& result) {
  result.attention.window = keys.window();
}

}  // namespace

constinit const Architecture kPhi3 = {.name = "Phi3ForCausalLM",
                                      .modelType = "phi3",
                                      .ggufName = "phi3",
                                      .readJson = &readPhi3Json,
                                      .readGguf = &readPhi3Gguf};

}  // namespace spanscope::model
