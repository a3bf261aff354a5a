// SPDX-License-Identifier: GPL-3.0-or-later
// The configuration of a model in the keys of a GGUF file.
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/compute/dtype.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/architectures/other_architectures.h"
#include "engine/model/config.h"
#include "engine/model/config_limits.h"
#include "engine/model/gguf_keys.h"
#include "engine/model/rotary_reading.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::model {
namespace {

using checkpoint::GgufFile;
using checkpoint::GgufMetadata;

void readHeads(const GgufKeys& keys, ModelConfig& config) {
  config.heads = narrow(keys.integer("attention.head_count", kMaxHeads));
  config.keyValueHeads = narrow(keys.integer("attention.head_count_kv", kMaxHeads, config.heads));
  if (config.heads % config.keyValueHeads != 0) {
    throw keys.fail("attention.head_count_kv", std::to_string(config.keyValueHeads),
                    "a divisor of the " + counted(config.heads, "attention head"));
  }
  if (!keys.has("attention.key_length") && config.hiddenSize % config.heads != 0) {
    throw keys.fail("embedding_length", std::to_string(config.hiddenSize),
                    "a multiple of the " + std::to_string(config.heads) + " attention heads");
  }
  config.headSize =
      narrow(keys.integer("attention.key_length", kMaxHeadSize, config.hiddenSize / config.heads));
  if (config.headSize < 2 || config.headSize % 2 != 0) {
    throw keys.fail("attention.key_length", std::to_string(config.headSize),
                    "an even number up to " + std::to_string(kMaxHeadSize));
  }
  const std::int64_t values = keys.integer("attention.value_length", kMaxHeadSize, config.headSize);
  if (values != config.headSize)
    throw keys.fail("attention.value_length", std::to_string(values), "that of the keys");
}

/// How the file stretches the context of its model.
void readScaling(const GgufKeys& keys, const ModelConfig& config, RotarySpec& rotary) {
  constexpr double kMost = 1e6;
  const std::string* type = keys.text("rope.scaling.type");
  // As llama.cpp reads it: a factor without a type divides all frequencies, and its older name counts too.
  const std::string kind = type == nullptr ? "linear" : *type;
  constexpr const char* kFactor = "rope.scaling.factor";
  const char* key = keys.has(kFactor) || !keys.has("rope.scale_linear") ? kFactor : "rope.scale_linear";
  const double factor = keys.numberOr(key, 1, 1e-3, kMost);
  rotary.attentionScale = static_cast<float>(keys.number("rope.scaling.attn_factor", 1e-3, kMost, 1));
  if (kind == "none") return;
  if (kind == "linear" || kind == "longrope") {
    rotary.linearFactor = factor;
  } else if (kind == "yarn") {
    YarnScaling yarn{.factor = factor};
    yarn.originalMaxPositions =
        keys.integer("rope.scaling.original_context_length", kMaxPositions, config.maxPositions);
    yarn.betaFast = keys.number("rope.scaling.yarn_beta_fast", 1e-3, kMost, yarn.betaFast);
    yarn.betaSlow = keys.number("rope.scaling.yarn_beta_slow", 1e-3, kMost, yarn.betaSlow);
    // The weight of the factor that is divided by; the other one is taken for 1.
    const double weightOfAll = keys.number("rope.scaling.yarn_log_multiplier", 0, kMost, 0);
    rotary.attentionScale *= static_cast<float>(yarnScale(factor, 1) / yarnScale(factor, weightOfAll));
    rotary.yarn = yarn;
  } else {
    throw keys.fail("rope.scaling.type", checkpoint::inQuotes(kind),
                    "\"none\", \"linear\", \"yarn\" or \"longrope\"; others are not supported");
  }
}

RotarySpec readRope(const GgufKeys& keys, const ModelConfig& config) {
  RotarySpec rotary;
  rotary.theta = keys.number("rope.freq_base", 1, kMaxRopeTheta, kDefaultRopeTheta);
  const auto turned = narrow(keys.integer("rope.dimension_count", config.headSize, config.headSize));
  if (turned % 2 != 0) throw keys.fail("rope.dimension_count", std::to_string(turned), "an even number");
  if (turned != config.headSize) rotary.turned = turned;
  readScaling(keys, config, rotary);
  // Llama 3.1 and later: what each frequency is divided by.
  rotary.factors = keys.factors("rope_freqs.weight", turned / 2);
  LongRope rope;
  rope.shortFactors = keys.factors("rope_factors_short.weight", turned / 2);
  rope.longFactors = keys.factors("rope_factors_long.weight", turned / 2);
  if (!rotary.factors.empty() || (rope.shortFactors.empty() && rope.longFactors.empty())) return rotary;
  if (rope.shortFactors.empty() || rope.longFactors.empty()) {
    throw Failure({keys.file().path().string(), "rope_factors_short.weight, rope_factors_long.weight",
                   "one of them", "both or none"});
  }
  rope.originalMaxPositions =
      keys.integer("rope.scaling.original_context_length", kMaxPositions, config.maxPositions);
  rotary.longRope = std::move(rope);
  return rotary;
}

/// The table of tokens says how many there are; the key may be missing.
std::int64_t vocabularyOf(const GgufFile& file, const GgufKeys& keys) {
  const auto table = file.tensors().find("token_embd.weight");
  if (table == file.tensors().end() || table->second.tensor.shape.size() != 2) {
    throw Failure({file.path().string(), "token_embd.weight", "no such matrix",
                   "the table of tokens: a model with its weights"});
  }
  const auto rows = static_cast<std::int64_t>(table->second.tensor.shape[1]);
  const std::int64_t stated = keys.integer("vocab_size", kMaxVocabulary, rows);
  if (rows > kMaxVocabulary || stated != rows) {
    throw Failure({table->second.file, "token_embd.weight", counted(rows, "row"),
                   std::to_string(stated) + ", as vocab_size says"});
  }
  return rows;
}

}  // namespace

ModelConfig configOf(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  const std::string* architecture = metadata.text("general.architecture");
  const Architecture* family = architecture == nullptr ? nullptr : architectureByGguf(*architecture);
  if (family == nullptr) {
    const std::optional<std::string> reason =
        architecture == nullptr ? std::nullopt : whyNotComputed(*architecture, metadata);
    throw Failure({metadata.file(), "general.architecture",
                   (architecture == nullptr ? "nothing" : checkpoint::inQuotes(*architecture)) +
                       (reason ? ", which is not computed: " + *reason : ""),
                   ggufArchitectures()});
  }
  const GgufKeys keys(file, *architecture);
  ModelConfig config;
  config.architecture = family->name;
  config.hiddenSize = narrow(keys.integer("embedding_length", kMaxHiddenSize));
  config.intermediateSize = narrow(keys.integer("feed_forward_length", kMaxIntermediateSize));
  config.layers = narrow(keys.integer("block_count", kMaxLayers));
  config.vocabularySize = narrow(vocabularyOf(file, keys));
  readHeads(keys, config);
  config.maxPositions = keys.integer("context_length", kMaxPositions, 2048);
  config.normEpsilon = static_cast<float>(keys.number("attention.layer_norm_rms_epsilon", 1e-12, 1, 1e-6));
  if (keys.count("expert_count", kMaxHeads) > 1)
    throw keys.fail("expert_count", "experts", "a dense model; experts are not supported");
  config.attention.rotary = readRope(keys, config);
  config.tiedEmbeddings = !file.tensors().contains("output.weight");
  family->readGguf(keys, config);
  keys.refuseUnused(config);
  fixContext(config, 0);
  return config;
}

}  // namespace spanscope::model
