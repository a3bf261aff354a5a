// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/model/weights.h"

namespace spanscope::model {

namespace {

ModelConfig base() {
  ModelConfig config;
  config.architecture = "LlamaForCausalLM";
  config.tiedEmbeddings = true;
  config.normEpsilon = 1e-5F;
  return config;
}

/// Llama 3.2 1B: 1 235 814 400 parameters.
ModelConfig llama1b() {
  ModelConfig config = base();
  config.vocabularySize = 128256;
  config.hiddenSize = 2048;
  config.intermediateSize = 8192;
  config.layers = 16;
  config.heads = 32;
  config.keyValueHeads = 8;
  config.headSize = 64;
  config.ropeTheta = 500000;
  config.hasLlama3Scaling = true;
  config.llama3 = {32, 1, 4, 8192};
  config.maxPositions = 131072;
  return config;
}

/// 21 287 808 parameters: 12 288 000 of them the table, the rest in six layers.
ModelConfig shape21m() {
  ModelConfig config = base();
  config.vocabularySize = 32000;
  config.hiddenSize = 384;
  config.intermediateSize = 960;
  config.layers = 6;
  config.heads = 6;
  config.keyValueHeads = 2;
  config.headSize = 64;
  config.maxPositions = 32768;
  return config;
}

/// 3 148 224 parameters: 786 432 of them the table, the rest in six layers.
ModelConfig shape3m() {
  ModelConfig config = base();
  config.vocabularySize = 4096;
  config.hiddenSize = 192;
  config.intermediateSize = 512;
  config.layers = 6;
  config.heads = 6;
  config.keyValueHeads = 2;
  config.headSize = 32;
  config.maxPositions = 32768;
  return config;
}

}  // namespace

ModelConfig namedShape(const std::string& name) {
  if (name == "llama-1b") return llama1b();
  if (name == "21m") return shape21m();
  if (name == "3m") return shape3m();
  throw Failure({"", "shape", "\"" + name + "\"", "llama-1b, 21m or 3m"});
}

}  // namespace spanscope::model
