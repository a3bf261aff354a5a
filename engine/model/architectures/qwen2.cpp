// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

/// Queries, keys and values always have biases, what is attended never has one.
void readQwen2Biases(ModelConfig& result) {
  result.attentionBias = true;
}

void readQwen2Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  // `sliding_window` and `max_window_layers` count only with this.
  if (config.flag("use_sliding_window", false))
    throw config.field("use_sliding_window").fail("true", "false; windows are not supported");
  refuseWindows(config);
  readQwen2Biases(result);
}

void readQwen2Gguf(const checkpoint::GgufFile& /*file*/, ModelConfig& result) {
  readQwen2Biases(result);
}

}  // namespace

constinit const Architecture kQwen2 = {.name = "Qwen2ForCausalLM",
                                       .modelType = "qwen2",
                                       .ggufName = "qwen2",
                                       .readJson = &readQwen2Json,
                                       .readGguf = &readQwen2Gguf};

}  // namespace spanscope::model
