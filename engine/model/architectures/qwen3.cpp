// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/architectures/families.h"

namespace spanscope::model {
namespace {

void readQwen3Json(const checkpoint::JsonPlace& config, ModelConfig& result) {
  if (config.flag("use_sliding_window", false))
    throw config.field("use_sliding_window").fail("true", "false; windows are not supported");
  refuseWindows(config);
  result.attentionBias = config.flag("attention_bias", false);
  result.outputBias = result.attentionBias;
  result.queryKeyNorm = true;
}

void readQwen3Gguf(const checkpoint::GgufFile& file, ModelConfig& result) {
  result.attentionBias = file.tensors().contains("blk.0.attn_q.bias");
  result.outputBias = file.tensors().contains("blk.0.attn_output.bias");
  result.queryKeyNorm = true;
}

}  // namespace

constinit const Architecture kQwen3 = {.name = "Qwen3ForCausalLM",
                                       .modelType = "qwen3",
                                       .ggufName = "qwen3",
                                       .readJson = &readQwen3Json,
                                       .readGguf = &readQwen3Gguf};

}  // namespace spanscope::model
