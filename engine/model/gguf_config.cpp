// SPDX-License-Identifier: GPL-3.0-or-later
// The configuration of a model in the keys of a GGUF file.
#include "engine/model/gguf_config.h"

#include "engine/base/counted.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/compute/dtype.h"
#include "engine/model/architectures/architecture.h"
#include "engine/model/architectures/other_architectures.h"
#include "engine/model/config.h"
#include "engine/model/rotary_reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <variant>

namespace spanscope::model {

namespace {

using checkpoint::GgufFile;
using checkpoint::GgufMetadata;

void readHeads(const GgufKeys& keys, ModelConfig& config) {
  config.heads = narrow(keys.integer("attention.head_count", kMaxHeads));
  config.keyValueHeads =
      narrow(keys.ofFirst("attention.head_count_kv", kMaxHeads, config.layers, config.heads));
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
    throw keys.fail("attention.value_length", std::to_string(values), "the length of the keys");
}

/// Reads how the file extends the context of its model.
void readScaling(const GgufKeys& keys, const ModelConfig& config, RotarySpec& rotary) {
  constexpr double kMost = 1e6;
  const std::string* type = keys.text("rope.scaling.type");
  // As in llama.cpp: a factor without a type divides all frequencies. The older key of the factor is valid
  // too.
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
    // The weight of the factor in the divisor. In the dividend, the weight is 1.
    const double weightOfAll = keys.number("rope.scaling.yarn_log_multiplier", 0, kMost, 0);
    rotary.attentionScale *= static_cast<float>(yarnScale(factor, 1) / yarnScale(factor, weightOfAll));
    rotary.yarn = yarn;
  } else {
    throw keys.fail("rope.scaling.type", checkpoint::inQuotes(kind),
                    "\"none\", \"linear\", \"yarn\" or \"longrope\". Other types are not supported");
  }
}

RotarySpec readRope(const GgufKeys& keys, const ModelConfig& config) {
  RotarySpec rotary;
  rotary.theta = keys.number("rope.freq_base", 1, kMaxRopeTheta, kDefaultRopeTheta);
  const auto turned = narrow(keys.integer("rope.dimension_count", config.headSize, config.headSize));
  if (turned % 2 != 0) throw keys.fail("rope.dimension_count", std::to_string(turned), "an even number");
  if (turned != config.headSize) rotary.turned = turned;
  readScaling(keys, config, rotary);
  // Llama 3.1 and later: the divisor of each frequency.
  rotary.factors = keys.factors("rope_freqs.weight", turned / 2);
  LongRope rope;
  rope.shortFactors = keys.factors("rope_factors_short.weight", turned / 2);
  rope.longFactors = keys.factors("rope_factors_long.weight", turned / 2);
  if (!rotary.factors.empty() || (rope.shortFactors.empty() && rope.longFactors.empty())) return rotary;
  if (rope.shortFactors.empty() || rope.longFactors.empty()) {
    throw Failure({keys.file().path().string(), "rope_factors_short.weight, rope_factors_long.weight",
                   "one of the two", "both or neither"});
  }
  rope.originalMaxPositions =
      keys.integer("rope.scaling.original_context_length", kMaxPositions, config.maxPositions);
  rotary.longRope = std::move(rope);
  return rotary;
}

/// Returns the number of tokens from the size of their table. The key may be missing.
std::int64_t vocabularyOf(const GgufFile& file, const GgufKeys& keys) {
  const auto table = file.tensors().find("token_embd.weight");
  if (table == file.tensors().end() || table->second.tensor.shape.size() != 2) {
    throw Failure({file.path().string(), "token_embd.weight", "no such matrix",
                   "the table of tokens (the file must contain the weights)"});
  }
  const auto rows = static_cast<std::int64_t>(table->second.tensor.shape[1]);
  const std::int64_t stated = keys.integer("vocab_size", kMaxVocabulary, rows);
  if (rows > kMaxVocabulary || stated != rows) {
    throw Failure({table->second.file, "token_embd.weight", counted(rows, "row"),
                   std::to_string(stated) + ", as in vocab_size"});
  }
  return rows;
}

/// The numbers of llama.cpp. Other numbers are no kind of vector that a decoder makes here.
Pooling poolingOf(const checkpoint::GgufMetadata& metadata, const std::string& architecture) {
  const std::int64_t* number = metadata.integer(architecture + ".pooling_type");
  if (number == nullptr) return Pooling::None;
  if (*number == 1) return Pooling::Mean;
  return *number == 3 ? Pooling::Last : Pooling::None;
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
                       (reason ? ", which Spanscope cannot compute: " + *reason : ""),
                   ggufArchitectures()});
  }
  const GgufKeys keys(file, *architecture);
  ModelConfig config;
  config.architecture = family->name;
  config.hiddenSize = narrow(keys.integer("embedding_length", kMaxHiddenSize));
  config.layers = narrow(keys.integer("block_count", kMaxLayers));
  config.intermediateSize = narrow(keys.ofFirst("feed_forward_length", kMaxIntermediateSize, config.layers));
  config.vocabularySize = narrow(vocabularyOf(file, keys));
  readHeads(keys, config);
  config.maxPositions = keys.integer("context_length", kMaxPositions, 2048);
  config.normEpsilon = static_cast<float>(keys.number("attention.layer_norm_rms_epsilon", 1e-12, 1, 1e-6));
  config.attention.rotary = readRope(keys, config);
  config.tiedEmbeddings = !file.tensors().contains("output.weight");
  family->readGguf(keys, config);
  if (config.experts.count == 0 && keys.count("expert_count", kMaxExperts) > 1)
    throw keys.fail("expert_count", "experts", "a dense model. Experts are not supported in this family");
  config.pooling = poolingOf(file.metadata(), *architecture);
  keys.refuseUnused(config);
  fixContext(config, 0);
  return config;
}

namespace {

using checkpoint::GgufValue;

/// The values of an unread key that change nothing. For the use of each key in llama.cpp, see its
/// src/llama-model.cpp and src/models.
enum class Harmless : std::uint8_t {
  Always,            ///< about another part of the file, or of no effect without another key
  Off,               ///< 0, false, or a list of zeros
  One,               ///< 1
  WiderThanContext,  ///< a window that no token reaches, or none
  HeadSize,          ///< equals that of every layer
  HiddenSize,
  True,
  Theta,       ///< equals the base of the frequencies of the first kind of layers
  LocalTheta,  ///< equals the base of the frequencies of the layers with a window
  Activation   ///< equals the name that the family has
};

struct UnusedKey {
  std::string_view key;  ///< after the architecture; a key that ends with a period is a prefix
  Harmless harmless = Harmless::Always;
};

constexpr std::array kUnusedKeys = {
    // Pictures and sound have weights of their own, which a text does not use.
    UnusedKey{"vision."}, UnusedKey{"audio."}, UnusedKey{"mm."},
    // The order of rows in the file, which the architecture decides.
    UnusedKey{"tensor_data_layout"},
    // For vectors of texts. Logits are the same.
    UnusedKey{"pooling_type"},
    // For another kind of norm than the family has.
    UnusedKey{"attention.layer_norm_epsilon"}, UnusedKey{"attention.layer_norm_rms_epsilon"},
    // For scalings that the file does not choose.
    UnusedKey{"rope.scaling.finetuned"}, UnusedKey{"rope.scaling.original_context_length"},
    UnusedKey{"rope.scaling.yarn_beta_fast"}, UnusedKey{"rope.scaling.yarn_beta_slow"},
    UnusedKey{"rope.scaling.yarn_log_multiplier"}, UnusedKey{"rope.scaling.yarn_ext_factor", Harmless::One},
    UnusedKey{"rope.scaling.yarn_attn_factor", Harmless::One},
    UnusedKey{"rope.scaling.extrapolation_factor", Harmless::One},
    UnusedKey{"rope.scaling.alpha", Harmless::Off}, UnusedKey{"rope.scale_linear", Harmless::One},
    // For a window that the file does not have.
    UnusedKey{"attention.sliding_window", Harmless::WiderThanContext},
    UnusedKey{"attention.sliding_window_pattern"}, UnusedKey{"rope.freq_base_swa", Harmless::LocalTheta},
    UnusedKey{"rope.local.freq_base", Harmless::LocalTheta},
    UnusedKey{"rope.global.freq_base", Harmless::Theta},
    UnusedKey{"attention.key_length_swa", Harmless::HeadSize},
    UnusedKey{"attention.value_length_swa", Harmless::HeadSize},
    // For experts that the file does not have.
    UnusedKey{"expert_used_count", Harmless::Off}, UnusedKey{"expert_shared_count", Harmless::Off},
    UnusedKey{"expert_group_count", Harmless::Off}, UnusedKey{"expert_group_used_count", Harmless::Off},
    UnusedKey{"expert_feed_forward_length", Harmless::Off},
    UnusedKey{"expert_shared_feed_forward_length", Harmless::Off},
    UnusedKey{"leading_dense_block_count", Harmless::Off}, UnusedKey{"nextn_predict_layers", Harmless::Off},
    // With these values, the decoder's computation is right.
    UnusedKey{"attention.causal", Harmless::True}, UnusedKey{"hidden_activation", Harmless::Activation},
    UnusedKey{"embedding_length_out", Harmless::HiddenSize},
    UnusedKey{"use_parallel_residual", Harmless::Off}, UnusedKey{"attn_logit_softcapping", Harmless::Off},
    UnusedKey{"final_logit_softcapping", Harmless::Off}, UnusedKey{"attention.clamp_kqv", Harmless::Off},
    UnusedKey{"attention.max_alibi_bias", Harmless::Off},
    UnusedKey{"attention.temperature_scale", Harmless::Off}, UnusedKey{"attention.temperature_length"},
    UnusedKey{"rope.dimension_sections", Harmless::Off}, UnusedKey{"attention.scale", Harmless::Off},
    UnusedKey{"logit_scale", Harmless::One}, UnusedKey{"residual_scale", Harmless::One},
    UnusedKey{"embedding_scale", Harmless::One}};

std::optional<double> numberOf(const GgufValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? 1 : 0;
  return std::nullopt;
}

bool isOff(const GgufValue& value) {
  const auto isZero = [](auto number) { return number == 0; };
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
    return std::ranges::all_of(*integers, isZero);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    return std::ranges::all_of(*numbers, isZero);
  return numberOf(value) == 0.0;
}

/// Returns the base of the frequencies of the layers with a window, or of the layers without a window.
bool hasTheta(const ModelConfig& config, bool windowed, std::optional<double> theta) {
  for (std::size_t i = 0; i < config.kinds(); ++i) {
    const AttentionKind& kind = config.kind(i);
    if ((kind.window > 0) == windowed && kind.rotary && kind.rotary->theta != theta) return false;
  }
  return true;
}

bool isHarmless(Harmless harmless, const GgufValue& value, const ModelConfig& config) {
  const std::optional<double> number = numberOf(value);
  switch (harmless) {
    case Harmless::Always:
      return true;
    case Harmless::Off:
      return isOff(value);
    case Harmless::One:
    case Harmless::True:
      return number == 1.0;
    case Harmless::WiderThanContext:
      return number == 0.0 || number >= static_cast<double>(config.maxPositions);
    case Harmless::HeadSize:
      return number == static_cast<double>(config.headSize);
    case Harmless::HiddenSize:
      return number == static_cast<double>(config.hiddenSize);
    case Harmless::Theta:
      return hasTheta(config, false, number);
    case Harmless::LocalTheta:
      return hasTheta(config, true, number);
    case Harmless::Activation: {
      const auto* name = std::get_if<std::string>(&value);
      const bool isGelu = config.activation == compute::Activation::GeluTanh;
      return name != nullptr && *name == (isGelu ? "gelu_pytorch_tanh" : "silu");
    }
  }
  return false;
}

bool isKnown(std::string_view key, const GgufValue& value, const ModelConfig& config) {
  return std::ranges::any_of(kUnusedKeys, [&](const UnusedKey& known) {
    const bool fits = known.key.ends_with('.') ? key.starts_with(known.key) : key == known.key;
    return fits && isHarmless(known.harmless, value, config);
  });
}

std::string valueText(const GgufValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return checkpoint::inQuotes(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return "a list";
  std::array<char, 32> digits{};
  return std::string(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), *number).ptr);
}

}  // namespace

std::string GgufKeys::used(const std::string& key) const {
  return *m_used.insert(name(key)).first;
}

void GgufKeys::refuseUnused(const ModelConfig& config) const {
  if (!m_lists.empty())
    throw fail(*m_lists.begin(), "a list of different numbers", "one number for all layers");
  const std::string prefix = name("");
  for (const auto& [whole, value] : metadata().values()) {
    if (!whole.starts_with(prefix) || m_used.contains(whole)) continue;
    const std::string key = whole.substr(prefix.size());
    if (isKnown(key, value, config)) continue;
    throw fail(key, valueText(value) + ", which Spanscope does not support",
               "no such key. The logits would be wrong. Use another model");
  }
}

Failure GgufKeys::fail(const std::string& key, std::string found, std::string expected) const {
  return Failure({metadata().file(), name(key), std::move(found), std::move(expected)});
}

std::int64_t GgufKeys::integer(const std::string& key, std::int64_t most,
                               std::optional<std::int64_t> otherwise) const {
  const std::int64_t* value = metadata().integer(used(key));
  if (value == nullptr) {
    if (otherwise) return *otherwise;
    throw fail(key, "nothing", "a whole number from 1 to " + std::to_string(most));
  }
  if (*value < 1 || *value > most) throw fail(key, std::to_string(*value), "1 to " + std::to_string(most));
  return *value;
}

std::vector<std::int64_t> GgufKeys::byLayer(const std::string& key, std::int64_t most, std::int32_t layers,
                                            std::optional<std::int64_t> otherwise) const {
  m_lists.erase(key);
  const auto found = metadata().values().find(used(key));
  const auto* list =
      found == metadata().values().end() ? nullptr : std::get_if<std::vector<std::int64_t>>(&found->second);
  if (list == nullptr)
    return std::vector<std::int64_t>(static_cast<std::size_t>(layers), integer(key, most, otherwise));
  if (list->size() != static_cast<std::size_t>(layers))
    throw fail(key, counted(list->size(), "entry", "entries"), "one for each of " + counted(layers, "layer"));
  for (const std::int64_t value : *list) {
    if (value < 1 || value > most) throw fail(key, std::to_string(value), "1 to " + std::to_string(most));
  }
  return *list;
}

std::int64_t GgufKeys::ofFirst(const std::string& key, std::int64_t most, std::int32_t layers,
                               std::optional<std::int64_t> otherwise) const {
  const std::vector<std::int64_t> values = byLayer(key, most, layers, otherwise);
  if (std::ranges::any_of(values, [&](std::int64_t value) { return value != values.front(); }))
    m_lists.insert(key);
  return values.front();
}

std::int64_t GgufKeys::count(const std::string& key, std::int64_t most) const {
  const std::int64_t* value = metadata().integer(used(key));
  if (value == nullptr) return 0;
  if (*value < 0 || *value > most) throw fail(key, std::to_string(*value), "0 to " + std::to_string(most));
  return *value;
}

std::int32_t GgufKeys::window() const {
  return narrow(count("attention.sliding_window", kMaxPositions));
}

std::vector<bool> GgufKeys::windowedLayers(std::int32_t layers, std::int64_t otherwise) const {
  constexpr const char* kKey = "attention.sliding_window_pattern";
  const auto found = metadata().values().find(used(kKey));
  const bool isList =
      found != metadata().values().end() && std::holds_alternative<std::vector<std::int64_t>>(found->second);
  std::vector<bool> windowed;
  if (isList) {
    const auto& entries = std::get<std::vector<std::int64_t>>(found->second);
    if (entries.size() != static_cast<std::size_t>(layers))
      throw fail(kKey, counted(entries.size(), "entry", "entries"),
                 "one for each of " + counted(layers, "layer"));
    std::ranges::transform(entries, std::back_inserter(windowed),
                           [](std::int64_t entry) { return entry != 0; });
    return windowed;
  }
  const std::int64_t* stated = metadata().integer(name(kKey));
  const std::int64_t period = stated == nullptr ? otherwise : *stated;
  if (period < 0 || period > kMaxLayers)
    throw fail(kKey, std::to_string(period), "0 to " + std::to_string(kMaxLayers));
  for (std::int32_t layer = 0; layer < layers; ++layer)
    windowed.push_back(period == 0 || (layer + 1) % period != 0);
  return windowed;
}

bool GgufKeys::flag(const std::string& key, bool otherwise) const {
  const bool* value = metadata().boolean(used(key));
  return value == nullptr ? otherwise : *value;
}

double GgufKeys::numberOr(const std::string& key, double otherwise, double least, double most) const {
  const double* value = metadata().number(used(key));
  return value == nullptr || *value == 0 ? otherwise : number(key, least, most, otherwise);
}

double GgufKeys::number(const std::string& key, double least, double most, double otherwise) const {
  const double* value = metadata().number(used(key));
  if (value == nullptr) return otherwise;
  if (!std::isfinite(*value) || *value < least || *value > most) {
    throw fail(key, std::to_string(*value), std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

std::vector<float> GgufKeys::factors(const std::string& tensor, std::int64_t count) const {
  const auto found = m_file.tensors().find(tensor);
  if (found == m_file.tensors().end()) return {};
  const checkpoint::GgufTensor& stored = found->second.tensor;
  const auto failure = [&](std::string what, std::string expected) {
    return Failure({found->second.file, tensor, std::move(what), std::move(expected)});
  };
  if (stored.format == nullptr || stored.format->format != compute::WeightFormat::F32)
    throw failure("type " + stored.typeName(), "F32");
  if (stored.elements() != count) {
    throw failure(counted(stored.elements(), "factor"),
                  std::to_string(count) + ", one for each rotated pair of a head");
  }
  std::vector<float> values(static_cast<std::size_t>(count));
  compute::widen(compute::WeightFormat::F32, stored.data.data(), count, values.data());
  m_file.requireWhole();
  for (const float value : values) {
    if (!std::isfinite(value) || value <= 0) throw failure(std::to_string(value), "finite numbers above 0");
  }
  return values;
}

}  // namespace spanscope::model
