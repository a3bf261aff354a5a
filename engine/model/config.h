// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/end_token.h"
#include "engine/base/ids.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/compute/backend.h"
#include "engine/model/rotary_spec.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::checkpoint {
class GgufFile;
}

namespace spanscope::model {

/// Where the norms of a layer stand.
enum class NormPlace : std::uint8_t {
  Before,  ///< before attention and before the gated product
  After,   ///< after each of them, before their result is added
  Around   ///< both
};

/// What of queries and keys is normed before they are turned.
enum class QueryKeyNorm : std::uint8_t {
  None,
  Heads,  ///< each head by itself
  Rows    ///< all heads of a token together
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
  NormPlace norms = NormPlace::Before;
  QueryKeyNorm queryKeyNorm = QueryKeyNorm::None;
  compute::Activation activation = compute::Activation::Silu;
  AttentionKind attention;                ///< of the layers that have no other kind
  std::vector<AttentionKind> otherKinds;  ///< the kinds of other layers
  /// By layer: 0 for `attention`, i + 1 for otherKinds[i]. Empty: all layers are of the first kind.
  std::vector<std::uint8_t> layerKinds;
  float embeddingScale = 1;  ///< factor on the rows of the table of tokens
  float residualScale = 1;   ///< factor on what a layer adds
  float attentionScale = 0;  ///< factor on scores; 0: 1/√headSize
  float logitScale = 1;      ///< factor on logits
  bool tiedEmbeddings = false;
  bool attentionBias = false;  ///< whether queries, keys and values have biases
  bool outputBias = false;     ///< whether what is attended has one
  bool mlpBias = false;
  std::int64_t maxPositions = 2048;
  std::vector<EndToken> endTokens;  ///< from all files that name end tokens; each is within the vocabulary
  std::int32_t maxNewTokens = 0;    ///< from generation_config.json; 0 if that has no such value
  bool blockAttention = false;      ///< the checkpoint says that it was trained for block attention
  /// What the checkpoint says that it was made for, e.g. "questions about a made-up world", where it is of
  /// little use for anything else; at most kMostMadeFor bytes; empty: it does not say.
  std::string madeFor;
  static constexpr std::size_t kMostMadeFor = 400;

  std::vector<TokenId> endTokenIds() const;
  std::size_t kinds() const { return 1 + otherKinds.size(); }
  const AttentionKind& kind(std::size_t index) const {
    return index == 0 ? attention : otherKinds[index - 1];
  }
  std::size_t kindOf(std::int32_t layer) const {
    return layerKinds.empty() ? 0 : layerKinds[static_cast<std::size_t>(layer)];
  }
  bool operator==(const ModelConfig&) const = default;
};

/// Reads `config.json` and, if it exists, `generation_config.json` of a model directory, in the formats of
/// older and newer versions of transformers; or the keys of a GGUF file. Throws Failure if something is
/// missing, absurd or not supported.
ModelConfig readConfig(const checkpoint::Checkpoint& checkpoint);

/// What a GGUF file says of its model. Throws the same.
ModelConfig configOf(const checkpoint::GgufFile& file);

/// Reads the same from a text; errors call it `source`.
ModelConfig parseConfig(std::string_view json, const std::string& source);

/// A hash of everything in a configuration that keys and values depend on: sizes, norms and the rotary table.
/// It is equal exactly for equal values. A cache's fingerprint contains it, together with the fingerprint of
/// the weights.
std::string fingerprint(const ModelConfig& config);

/// Tokens from one step to the next at which queries of a layer are scaled otherwise; 0: no layer scales them
/// by their position.
std::int64_t positionStepOf(const ModelConfig& config);

/// By layer, how many positions a token sees, itself included; 0: all. Empty where no layer has a window.
std::vector<std::int32_t> windowsOf(const ModelConfig& config);

/// Chooses the divisors of LongRoPE for sequences of up to so many tokens, and limits maxPositions to what
/// they are for. Models without it stay as they are. readConfig() chooses those for the original context.
void fixContext(ModelConfig& config, std::int64_t tokens);

/// The rotary table of the first kind of layers.
inline compute::RotaryTable makeRotaryTable(const ModelConfig& config) {
  return makeRotaryTable(config.attention, config.headSize);
}

// What a configuration may say. The limits are far above every model there is, and so low that no product of
// two of them overflows 64 bits.

inline constexpr std::int64_t kMaxVocabulary = 1 << 22;
inline constexpr std::int64_t kMaxHiddenSize = 1 << 16;
inline constexpr std::int64_t kMaxIntermediateSize = 1 << 20;
inline constexpr std::int64_t kMaxLayers = 1024;
inline constexpr std::int64_t kMaxHeads = 1024;
inline constexpr std::int64_t kMaxHeadSize = 1024;
inline constexpr std::int64_t kMaxPositions = 1 << 30;
inline constexpr double kMaxRopeTheta = 1e12;
inline constexpr double kDefaultRopeTheta = 10000;

/// A value within these limits.
inline std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}

/// Whether a model lies in a folder with the name of a published checkpoint that was trained for block
/// attention and does not say so in its configuration: ".../Tulu3-Block-FT", or in the cache of Hugging Face
/// ".../models--ldsjmdy--Tulu3-Block-FT/snapshots/…".
bool isPublishedForBlockAttention(const std::filesystem::path& path);

// What a model's layers do, in words for people.

/// "none", "linear, × 8", "llama3", "YaRN, × 4 from 32768 tokens", "LongRoPE, for up to 4096 tokens" or "not
/// turned".
std::string scalingText(const AttentionKind& kind);

/// What the layers of each kind see, and how they turn: "26 layers see 512 tokens, base 10000; 5 layers see
/// all, base 1000000, linear, × 8".
std::string attentionText(const ModelConfig& config);

/// What a stored span is worth at another place, in a sentence or two.
std::string relocationText(const ModelConfig& config);

}  // namespace spanscope::model
