// SPDX-License-Identifier: GPL-3.0-or-later
// The configuration of a model in the keys of a GGUF file.
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/compute/half.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/config.h"
#include "engine/model/config_limits.h"

#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::model {
namespace {

using checkpoint::GgufFile;
using checkpoint::GgufMetadata;

/// The keys of an architecture begin with its name.
class Keys {
 public:
  Keys(const GgufMetadata& metadata, std::string architecture)
      : m_metadata(metadata), m_architecture(std::move(architecture)) {}

  std::string name(const std::string& key) const { return m_architecture + "." + key; }

  Failure fail(const std::string& key, std::string found, std::string expected) const {
    return Failure({m_metadata.file(), name(key), std::move(found), std::move(expected)});
  }

  std::int64_t integer(const std::string& key, std::int64_t most,
                       std::optional<std::int64_t> otherwise = {}) const {
    const std::int64_t* value = m_metadata.integer(name(key));
    if (value == nullptr) {
      if (otherwise) return *otherwise;
      throw fail(key, "nothing", "a whole number from 1 to " + std::to_string(most));
    }
    if (*value < 1 || *value > most) throw fail(key, std::to_string(*value), "1 to " + std::to_string(most));
    return *value;
  }

  double number(const std::string& key, double least, double most, double otherwise) const {
    const double* value = m_metadata.number(name(key));
    if (value == nullptr) return otherwise;
    if (!std::isfinite(*value) || *value < least || *value > most) {
      throw fail(key, std::to_string(*value), std::to_string(least) + " to " + std::to_string(most));
    }
    return *value;
  }

  const std::string* text(const std::string& key) const { return m_metadata.text(name(key)); }
  bool has(const std::string& key) const { return m_metadata.integer(name(key)) != nullptr; }

 private:
  const GgufMetadata& m_metadata;
  std::string m_architecture;
};

void readHeads(const Keys& keys, ModelConfig& config) {
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

void readRope(const Keys& keys, ModelConfig& config) {
  config.ropeTheta = keys.number("rope.freq_base", 1, kMaxRopeTheta, kDefaultRopeTheta);
  const std::int64_t turned = keys.integer("rope.dimension_count", kMaxHeadSize, config.headSize);
  if (turned != config.headSize) {
    throw keys.fail("rope.dimension_count", std::to_string(turned),
                    std::to_string(config.headSize) + "; rotating a part of a head is not supported");
  }
  const std::string* scaling = keys.text("rope.scaling.type");
  if (scaling != nullptr && *scaling != "none")
    throw keys.fail("rope.scaling.type", checkpoint::inQuotes(*scaling),
                    "\"none\"; others are not supported");
}

/// Llama 3.1 and later: the file has what each frequency is divided by.
void readRopeFactors(const GgufFile& file, ModelConfig& config) {
  const auto found = file.tensors().find("rope_freqs.weight");
  if (found == file.tensors().end()) return;
  const checkpoint::GgufTensor& tensor = found->second.tensor;
  const auto fail = [&](std::string what, std::string expected) {
    return Failure({found->second.file, found->first, std::move(what), std::move(expected)});
  };
  if (tensor.format == nullptr || tensor.format->format != compute::WeightFormat::F32)
    throw fail("type " + tensor.typeName(), "F32");
  if (tensor.elements() != config.headSize / 2) {
    throw fail(counted(tensor.elements(), "factor"),
               std::to_string(config.headSize / 2) + ", one for each pair of a head");
  }
  config.ropeFactors.resize(static_cast<std::size_t>(config.headSize / 2));
  compute::widen(compute::WeightFormat::F32, tensor.data.data(), tensor.elements(),
                 config.ropeFactors.data());
  file.requireWhole();
  for (const float factor : config.ropeFactors) {
    if (!std::isfinite(factor) || factor <= 0) throw fail(std::to_string(factor), "finite numbers above 0");
  }
}

/// The table of tokens says how many there are; the key may be missing.
std::int64_t vocabularyOf(const GgufFile& file, const Keys& keys) {
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
    throw Failure({metadata.file(), "general.architecture",
                   architecture == nullptr ? "nothing" : checkpoint::inQuotes(*architecture),
                   ggufArchitectures()});
  }
  const Keys keys(metadata, *architecture);
  ModelConfig config;
  config.architecture = family->name;
  config.hiddenSize = narrow(keys.integer("embedding_length", kMaxHiddenSize));
  config.intermediateSize = narrow(keys.integer("feed_forward_length", kMaxIntermediateSize));
  config.layers = narrow(keys.integer("block_count", kMaxLayers));
  config.vocabularySize = narrow(vocabularyOf(file, keys));
  readHeads(keys, config);
  config.maxPositions = keys.integer("context_length", kMaxPositions, 2048);
  config.normEpsilon = static_cast<float>(keys.number("attention.layer_norm_rms_epsilon", 1e-12, 1, 1e-6));
  if (keys.has("expert_count") && keys.integer("expert_count", kMaxHeads) > 1)
    throw keys.fail("expert_count", "experts", "a dense model; experts are not supported");
  readRope(keys, config);
  readRopeFactors(file, config);
  config.tiedEmbeddings = !file.tensors().contains("output.weight");
  family->readGguf(file, config);
  return config;
}

}  // namespace spanscope::model
