// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/model/weights.h"

#include <array>
#include <string>
#include <vector>

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
  config.attention.rotary->theta = 500000;
  config.attention.rotary->llama3 = Llama3Scaling{32, 1, 4, 8192};
  config.maxPositions = 131072;
  return config;
}

/// Llama 3.1 8B: 8 030 261 248 parameters.
ModelConfig llama8b() {
  ModelConfig config = base();
  config.vocabularySize = 128256;
  config.hiddenSize = 4096;
  config.intermediateSize = 14336;
  config.layers = 32;
  config.heads = 32;
  config.keyValueHeads = 8;
  config.headSize = 128;
  config.attention.rotary->theta = 500000;
  config.attention.rotary->llama3 = Llama3Scaling{8, 1, 4, 8192};
  config.maxPositions = 131072;
  config.tiedEmbeddings = false;
  return config;
}

/// Qwen2.5 7B but for its biases on queries, keys and values, which random weights have none of: 7 615 487
/// 488 parameters.
ModelConfig qwen7b() {
  ModelConfig config = base();
  config.vocabularySize = 152064;
  config.hiddenSize = 3584;
  config.intermediateSize = 18944;
  config.layers = 28;
  config.heads = 28;
  config.keyValueHeads = 4;
  config.headSize = 128;
  config.attention.rotary->theta = 1000000;
  config.normEpsilon = 1e-6F;
  config.maxPositions = 131072;
  config.tiedEmbeddings = false;
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

struct NamedShape {
  const char* name;
  ModelConfig (*make)();
};

constexpr std::array<NamedShape, 5> kShapes = {
    {{"llama-8b", llama8b}, {"qwen-7b", qwen7b}, {"llama-1b", llama1b}, {"21m", shape21m}, {"3m", shape3m}}};

}  // namespace

std::vector<std::string> shapeList() {
  std::vector<std::string> names;
  for (const NamedShape& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

std::string shapeNames() {
  std::string names;
  for (const NamedShape& shape : kShapes) {
    if (!names.empty()) names += &shape == &kShapes.back() ? " or " : ", ";
    names += shape.name;
  }
  return names;
}

ModelConfig namedShape(const std::string& name) {
  for (const NamedShape& shape : kShapes) {
    if (name == shape.name) return shape.make();
  }
  throw Failure({"", "shape", "\"" + name + "\"", shapeNames()});
}

}  // namespace spanscope::model
