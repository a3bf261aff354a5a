// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/end_token.h"
#include "engine/base/ids.h"
#include "engine/compute/backend.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::model {

/// Frequency scaling of rotary embeddings as Llama 3.1 introduced it.
struct Llama3Scaling {
  double factor = 8;
  double lowFrequencyFactor = 1;
  double highFrequencyFactor = 4;
  std::int64_t originalMaxPositions = 8192;
  bool operator==(const Llama3Scaling&) const = default;
};

/// A Llama-architecture model, as `config.json` describes it. All values have been checked to be in range and
/// to fit each other.
struct ModelConfig {
  std::string architecture;  ///< "LlamaForCausalLM"
  std::int32_t vocabularySize = 0;
  std::int32_t hiddenSize = 0;
  std::int32_t intermediateSize = 0;
  std::int32_t layers = 0;
  std::int32_t heads = 0;
  std::int32_t keyValueHeads = 0;
  std::int32_t headSize = 0;
  float normEpsilon = 1e-5F;
  double ropeTheta = 10000;
  bool hasLlama3Scaling = false;
  Llama3Scaling llama3;
  bool tiedEmbeddings = false;
  bool attentionBias = false;
  bool mlpBias = false;
  std::int64_t maxPositions = 2048;
  std::vector<EndToken> endTokens;  ///< whatever file names them; each within the vocabulary
  std::int32_t maxNewTokens = 0;    ///< from generation_config.json; 0 if it says nothing
  bool blockAttention = false;      ///< the checkpoint says it was trained for block attention

  std::vector<TokenId> endTokenIds() const;
  bool operator==(const ModelConfig&) const = default;
};

/// Reads `config.json` and, where it exists, `generation_config.json` of a model directory, as older and
/// newer versions of transformers write them. Throws Failure for what is missing, absurd or not supported.
ModelConfig readConfig(const std::filesystem::path& directory);

/// The same from text; `source` names it in errors.
ModelConfig parseConfig(std::string_view json, const std::string& source);

/// Everything of a configuration that keys and values depend on: sizes, norms and the rotary table. Belongs
/// into a cache's fingerprint beside that of the weights; equal exactly for equal values.
std::string fingerprint(const ModelConfig& config);

/// Inverse frequencies with the model's scaling applied, headSize/2 of them.
compute::RotaryTable makeRotaryTable(const ModelConfig& config);

}  // namespace spanscope::model
