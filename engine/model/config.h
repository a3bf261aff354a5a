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

/// Frequency scaling of rotary embeddings, as in Llama 3.1.
struct Llama3Scaling {
  double factor = 8;
  double lowFrequencyFactor = 1;
  double highFrequencyFactor = 4;
  std::int64_t originalMaxPositions = 8192;
  bool operator==(const Llama3Scaling&) const = default;
};

/// A Llama-architecture model as `config.json` describes it. All values are checked: they are in range and
/// fit each other.
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
  std::vector<EndToken> endTokens;  ///< from all files that name end tokens; each is within the vocabulary
  std::int32_t maxNewTokens = 0;    ///< from generation_config.json; 0 if that has no such value
  bool blockAttention = false;      ///< the checkpoint says that it was trained for block attention

  std::vector<TokenId> endTokenIds() const;
  bool operator==(const ModelConfig&) const = default;
};

/// Reads `config.json` and, if it exists, `generation_config.json` of a model directory, in the formats of
/// older and newer versions of transformers. Throws Failure if something is missing, absurd or not supported.
ModelConfig readConfig(const std::filesystem::path& directory);

/// Reads the same from a text; errors call it `source`.
ModelConfig parseConfig(std::string_view json, const std::string& source);

/// A hash of everything in a configuration that keys and values depend on: sizes, norms and the rotary table.
/// It is equal exactly for equal values. A cache's fingerprint contains it, together with the fingerprint of
/// the weights.
std::string fingerprint(const ModelConfig& config);

/// The rotary table: headSize/2 inverse frequencies, with the model's scaling applied.
compute::RotaryTable makeRotaryTable(const ModelConfig& config);

}  // namespace spanscope::model
