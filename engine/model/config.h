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

namespace spanscope::checkpoint {
class GgufFile;
}

namespace spanscope::model {

/// Frequency scaling of rotary embeddings, as in Llama 3.1.
struct Llama3Scaling {
  double factor = 8;
  double lowFrequencyFactor = 1;
  double highFrequencyFactor = 4;
  std::int64_t originalMaxPositions = 8192;
  bool operator==(const Llama3Scaling&) const = default;
};

/// A model as `config.json` or the keys of a GGUF file describe it. All values are checked: they are in range
/// and fit each other. What a family has of its own stands here as a fact, so that nothing else asks for the
/// family.
struct ModelConfig {
  std::string architecture;  ///< "LlamaForCausalLM"; see engine/model/architectures
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
  /// What each frequency is divided by, as GGUF files have it; empty: by 1.
  std::vector<float> ropeFactors;
  bool tiedEmbeddings = false;
  bool attentionBias = false;  ///< whether queries, keys and values have biases
  bool outputBias = false;     ///< whether what is attended has one
  bool mlpBias = false;
  bool queryKeyNorm = false;  ///< whether each head of queries and keys is normed before it is rotated
  std::int64_t maxPositions = 2048;
  std::vector<EndToken> endTokens;  ///< from all files that name end tokens; each is within the vocabulary
  std::int32_t maxNewTokens = 0;    ///< from generation_config.json; 0 if that has no such value
  bool blockAttention = false;      ///< the checkpoint says that it was trained for block attention

  std::vector<TokenId> endTokenIds() const;
  bool operator==(const ModelConfig&) const = default;
};

/// Reads `config.json` and, if it exists, `generation_config.json` of a model directory, in the formats of
/// older and newer versions of transformers; or the keys of a GGUF file (checkpoint::ggufModel()). Throws
/// Failure if something is missing, absurd or not supported.
ModelConfig readConfig(const std::filesystem::path& path);

/// What a GGUF file says of its model. Throws the same.
ModelConfig configOf(const checkpoint::GgufFile& file);

/// Reads the same from a text; errors call it `source`.
ModelConfig parseConfig(std::string_view json, const std::string& source);

/// A hash of everything in a configuration that keys and values depend on: sizes, norms and the rotary table.
/// It is equal exactly for equal values. A cache's fingerprint contains it, together with the fingerprint of
/// the weights.
std::string fingerprint(const ModelConfig& config);

/// The rotary table: headSize/2 inverse frequencies, with the model's scaling applied.
compute::RotaryTable makeRotaryTable(const ModelConfig& config);

}  // namespace spanscope::model
