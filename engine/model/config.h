// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the configuration of a model, a value that describes its layers, and reads it. Open this file to
// add a fact about models.
// Defines the rotary embedding and the window of a model's layers. Open this file to add a kind of RoPE
// scaling.
#pragma once

#include "engine/base/end_token.h"
#include "engine/base/ids.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
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

/// Frequency scaling of YaRN (arXiv 2309.00071, section 3.2).
struct YarnScaling {
  double factor = 1;
  double betaFast = 32;  ///< a frequency with at least this number of rotations over the original context is
                         ///< kept
  double betaSlow = 1;   ///< a frequency with fewer rotations than this is divided by the factor
  std::int64_t originalMaxPositions = 8192;
  bool truncates = true;  ///< whether the two limits are rounded to whole pairs
  bool operator==(const YarnScaling&) const = default;
};

/// The divisors of LongRoPE (arXiv 2402.13753): one list up to the original context, another list beyond. The
/// list is fixed when the model opens. Keys that were rotated with one list do not fit the other.
struct LongRope {
  std::vector<float> shortFactors;  ///< one for each rotated pair
  std::vector<float> longFactors;
  std::int64_t originalMaxPositions = 4096;
  std::int64_t longMaxPositions = 0;  ///< of the long list; 0: unknown
  bool isLong = false;                ///< whether the long list is used
  bool operator==(const LongRope&) const = default;
};

/// How layers rotate queries and keys by their positions.
struct RotarySpec {
  double theta = 10000;
  /// Number of rotated elements at the beginning of each head; 0: all. Element i and element i + turned / 2
  /// form a pair.
  std::int32_t turned = 0;
  double linearFactor = 1;  ///< divides all frequencies
  std::optional<Llama3Scaling> llama3 = {};
  std::optional<YarnScaling> yarn = {};
  std::optional<LongRope> longRope = {};
  /// The divisor of each frequency, as GGUF files have it for Llama 3.1. Empty: 1.
  std::vector<float> factors = {};
  /// Number of rotated pairs of the whole head, from the first pair on. The frequencies are those of the
  /// whole head (proportional rotary embedding, Gemma 4). 0: all.
  std::int32_t firstPairs = 0;
  float attentionScale = 1;  ///< factor on rotated queries and on rotated keys
  bool operator==(const RotarySpec&) const = default;
};

/// The properties that layers of one kind share.
struct AttentionKind {
  std::optional<RotarySpec> rotary = RotarySpec{};  ///< nothing: the layers have no positions.
  /// A token can attend to tokens less than this number of positions before it, itself included. 0: all.
  /// Positions are those of the request view.
  std::int32_t window = 0;
  compute::PositionScale positionScale = {};
  std::int32_t headSize = 0;       ///< 0: that of the model
  std::int32_t keyValueHeads = 0;  ///< 0: those of the model
  bool valuesAreKeys = false;      ///< the values are the keys before the norm and the rotation
  bool operator==(const AttentionKind&) const = default;
};

/// Returns the rotary table of a kind: headSize/2 inverse frequencies, with the scaling applied. If only a
/// part of a head is rotated, the decoder has that part at the beginning of each half. The first frequencies
/// then belong to the pairs of this part, and the other frequencies are 0.
compute::RotaryTable makeRotaryTable(const AttentionKind& kind, std::int32_t headSize);

}  // namespace spanscope::model
namespace spanscope::checkpoint {
class GgufFile;
}

namespace spanscope::model {

/// The places of the norms of a layer.
enum class NormPlace : std::uint8_t {
  Before,       ///< before attention and before the gated product
  After,        ///< after each of them, before the result is added
  Around,       ///< both
  AroundParts,  ///< both; files name the later norms by attention and by the gated product (GLM-4)
  Shared  ///< one norm before both. Attention and the gated product read the same rows, and both results are
          ///< added.
};

enum class NormKind : std::uint8_t {
  Rms,   ///< divides by the root of the mean square
  Layer  ///< subtracts the mean first
};

/// Which rows of query and key vectors are normed before the rotation.
enum class QueryKeyNorm : std::uint8_t {
  None,
  Heads,  ///< each head separately
  Rows    ///< all heads of a token together
};

/// The experts of the gated product after attention. A router chooses some of the experts for each token.
struct Experts {
  std::int32_t count = 0;  ///< 0: one gated product for all tokens
  compute::ExpertChoice choice = {};
  bool routerBias = false;
  /// Inner width of a gated product that all tokens use besides the experts; 0: none.
  std::int32_t sharedSize = 0;
  bool operator==(const Experts&) const = default;
};

/// A model as `config.json` or the keys of a GGUF file describe it. All values are checked: each value is in
/// range, and the values agree with each other. Everything specific to a family is a fact here. Other code
/// therefore does not depend on the family.
/// How the hidden states of a text become one vector.
enum class Pooling : std::uint8_t {
  None,  ///< the checkpoint was not trained for vectors
  Mean,  ///< mean over all tokens
  Last   ///< the last token
};

struct ModelConfig {
  std::string architecture;  ///< "LlamaForCausalLM"; see engine/model/architectures
  std::int32_t vocabularySize = 0;
  std::int32_t hiddenSize = 0;
  std::int32_t intermediateSize = 0;  ///< inner width of the gated product; of one expert, if there are any
  std::int32_t layers = 0;
  std::int32_t heads = 0;
  std::int32_t keyValueHeads = 0;
  std::int32_t headSize = 0;
  float normEpsilon = 1e-5F;
  NormPlace norms = NormPlace::Before;
  NormKind normKind = NormKind::Rms;
  QueryKeyNorm queryKeyNorm = QueryKeyNorm::None;
  compute::Activation activation = compute::Activation::Silu;
  Experts experts = {};
  AttentionKind attention;                ///< of the layers without an entry in otherKinds
  std::vector<AttentionKind> otherKinds;  ///< the kinds of other layers
  /// By layer: 0 for `attention`, i + 1 for otherKinds[i]. Empty: all layers are of the first kind.
  std::vector<std::uint8_t> layerKinds;
  /// Whether the files have the two rows of each rotated pair (in query and key matrices) next to each other.
  /// In other files, the two rows are half of the rotated rows apart.
  bool pairsAdjacent = false;
  /// Number of the last layers that have no keys and values. Such a layer reads the keys and values of the
  /// last layer of its kind that has them.
  std::int32_t sharingLayers = 0;
  bool sharingIsWide = false;     ///< whether these layers have twice the intermediate size
  bool valueNorm = false;         ///< whether values are normed by head, without a weight
  std::int32_t perLayerSize = 0;  ///< elements of a token's vector for each layer; 0: no such vectors
  bool layerScale = false;        ///< whether each layer has a factor on its result
  float embeddingScale = 1;       ///< factor on the rows of the token embeddings
  float residualScale = 1;        ///< factor on the sum that a layer adds
  float attentionScale = 0;       ///< factor on scores; 0: 1/√headSize
  float attentionCap = 0;         ///< soft cap of scores: cap · tanh(score / cap); 0: none
  float logitScale = 1;           ///< factor on logits
  float logitCap = 0;             ///< soft cap of logits; 0: none
  bool tiedEmbeddings = false;
  /// Whether the checkpoint states a head of its own, but was saved without it. `tiedEmbeddings` is then
  /// true.
  bool lacksHead = false;
  Pooling pooling = Pooling::None;  ///< how the checkpoint was trained to make vectors of texts
  bool attentionBias = false;       ///< whether queries, keys and values have biases
  bool outputBias = false;          ///< whether the projection after attention has a bias
  bool mlpBias = false;             ///< the gated product's biases; those of all experts, if there are any
  bool attentionSinks = false;      ///< whether each query head has a learned score without a value
  std::int64_t maxPositions = 2048;
  std::vector<EndToken> endTokens;  ///< from all files that name end tokens; each is in the vocabulary
  std::int32_t maxNewTokens = 0;    ///< from generation_config.json; 0 if that file has no value
  bool blockAttention = false;  ///< whether the checkpoint states that it was trained for block attention.
  /// The purpose that the checkpoint states, if the checkpoint is of little use for other purposes. Example:
  /// "questions about a made-up world". At most kMostMadeFor bytes. Empty: no statement.
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
  std::int32_t headSizeOf(const AttentionKind& kind) const {
    return kind.headSize > 0 ? kind.headSize : headSize;
  }
  std::int32_t keyValueHeadsOf(const AttentionKind& kind) const {
    return kind.keyValueHeads > 0 ? kind.keyValueHeads : keyValueHeads;
  }
  std::int32_t storingLayers() const { return layers - sharingLayers; }
  bool isSharing(std::int32_t layer) const { return layer >= storingLayers(); }
  /// Returns the layer whose keys and values a layer reads.
  std::int32_t keyLayerOf(std::int32_t layer) const;
  std::int32_t intermediateSizeOf(std::int32_t layer) const {
    return intermediateSize * (sharingIsWide && isSharing(layer) ? 2 : 1);
  }
  bool operator==(const ModelConfig&) const = default;
};

/// Reads `config.json` and, if it exists, `generation_config.json` of a model directory. Accepts the formats
/// of older and newer versions of transformers. Reads the keys of a GGUF file instead if there is one. Throws
/// Failure if a value is missing, absurd or not supported.
ModelConfig readConfig(const checkpoint::Checkpoint& checkpoint);

/// Reads the configuration of a GGUF file. Throws like readConfig().
ModelConfig configOf(const checkpoint::GgufFile& file);

/// Reads a configuration from the text of a config.json. Errors call the text `source`.
ModelConfig parseConfig(std::string_view json, const std::string& source);

/// Returns a hash of all values that keys and values depend on: sizes, norms and the rotary table. The hash
/// is equal only for equal values. A cache's fingerprint contains it, together with the fingerprint of the
/// weights.
std::string fingerprint(const ModelConfig& config);

/// Returns the number of tokens between two steps of the query scale of a layer. 0: no layer scales queries
/// by position.
std::int64_t positionStepOf(const ModelConfig& config);

/// Returns by layer the number of positions that a token can attend to, itself included. 0: all. Empty if no
/// layer has a window.
std::vector<std::int32_t> windowsOf(const ModelConfig& config);

/// Chooses the divisors of LongRoPE for sequences of up to `tokens` tokens. Limits maxPositions to their
/// range. Other models do not change. readConfig() chooses the divisors for the original context.
void fixContext(ModelConfig& config, std::int64_t tokens);

/// Returns the rotary table of the first kind of layers.
inline compute::RotaryTable makeRotaryTable(const ModelConfig& config) {
  return makeRotaryTable(config.attention, config.headSizeOf(config.attention));
}

/// Returns the shape of a KV store for a model.
compute::KvShape kvShapeOf(const ModelConfig& config, std::int32_t blocks, std::int32_t blockSize,
                           compute::DType type);

// Limits of the values of a configuration. The limits are far above the values of every known model. No
// product of two limits overflows 64 bits.

inline constexpr std::int64_t kMaxVocabulary = 1 << 22;
inline constexpr std::int64_t kMaxHiddenSize = 1 << 16;
inline constexpr std::int64_t kMaxIntermediateSize = 1 << 20;
inline constexpr std::int64_t kMaxLayers = 1024;
inline constexpr std::int64_t kMaxHeads = 1024;
inline constexpr std::int64_t kMaxHeadSize = 1024;
inline constexpr std::int64_t kMaxExperts = 1024;
inline constexpr std::int64_t kMaxPositions = 1 << 30;
inline constexpr double kMaxRopeTheta = 1e12;
inline constexpr double kDefaultRopeTheta = 10000;

/// Narrows a value within these limits.
inline std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}

/// Whether a model is in a folder with the name of a published checkpoint that was trained for block
/// attention. The configuration of such a checkpoint does not contain this fact. Examples are
/// ".../Tulu3-Block-FT" and, in the cache of Hugging Face, ".../models--ldsjmdy--Tulu3-Block-FT/snapshots/…".
bool isPublishedForBlockAttention(const std::filesystem::path& path);

// Descriptions of a model's layers in words for the user.

/// Describes the RoPE scaling of a kind. Examples: "none", "linear, × 8", "llama3", "YaRN, × 4 from 32768
/// tokens". For long contexts: "LongRoPE, for up to 4096 tokens".
std::string scalingText(const AttentionKind& kind);

/// Describes the window and rotation of the layers of each kind. Example: "26 layers attend to 512 tokens,
/// base 10000; 5 layers attend to all tokens, base 1000000, linear, × 8".
std::string attentionText(const ModelConfig& config);

/// Describes in one or two sentences how a stored span can be used at another position.
std::string relocationText(const ModelConfig& config);

}  // namespace spanscope::model
