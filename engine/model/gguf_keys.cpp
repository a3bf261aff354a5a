// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/gguf_keys.h"

#include "engine/base/counted.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/model/config.h"
#include "engine/model/config_limits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <variant>

namespace spanscope::model {
namespace {

using checkpoint::GgufValue;

/// When a key that nothing reads changes nothing. What llama.cpp does with each key is in its
/// src/llama-model.cpp and src/models.
enum class Harmless : std::uint8_t {
  Always,            ///< about another part of the file, or of no effect without another key
  Off,               ///< 0, false, or a list of zeros
  One,               ///< 1
  WiderThanContext,  ///< a window that no token reaches, or none
  HeadSize,          ///< that of every layer
  HiddenSize,
  True,
  Theta,       ///< the base of the frequencies of the first kind of layers
  LocalTheta,  ///< the same of the layers with a window
  Activation   ///< the name of the one that the family has
};

struct UnusedKey {
  std::string_view key;  ///< after the architecture; one that ends with a period is a prefix
  Harmless harmless = Harmless::Always;
};

constexpr std::array kUnusedKeys = {
    // Pictures and sound have weights of their own, and a text without them does not meet those.
    UnusedKey{"vision."}, UnusedKey{"audio."}, UnusedKey{"mm."},
    // The order of rows in the file, which the architecture decides.
    UnusedKey{"tensor_data_layout"},
    // What an embedding is made of; logits are the same.
    UnusedKey{"pooling_type"},
    // Of a kind of norm that no family here has.
    UnusedKey{"attention.layer_norm_epsilon"},
    // Of scalings that the file does not choose.
    UnusedKey{"rope.scaling.finetuned"}, UnusedKey{"rope.scaling.original_context_length"},
    UnusedKey{"rope.scaling.yarn_beta_fast"}, UnusedKey{"rope.scaling.yarn_beta_slow"},
    UnusedKey{"rope.scaling.yarn_log_multiplier"}, UnusedKey{"rope.scaling.yarn_ext_factor", Harmless::One},
    UnusedKey{"rope.scaling.yarn_attn_factor", Harmless::One},
    UnusedKey{"rope.scaling.extrapolation_factor", Harmless::One},
    UnusedKey{"rope.scaling.alpha", Harmless::Off}, UnusedKey{"rope.scale_linear", Harmless::One},
    // Of a window that the file does not have.
    UnusedKey{"attention.sliding_window", Harmless::WiderThanContext},
    UnusedKey{"attention.sliding_window_pattern"}, UnusedKey{"rope.freq_base_swa", Harmless::LocalTheta},
    UnusedKey{"rope.local.freq_base", Harmless::LocalTheta},
    UnusedKey{"rope.global.freq_base", Harmless::Theta},
    UnusedKey{"attention.key_length_swa", Harmless::HeadSize},
    UnusedKey{"attention.value_length_swa", Harmless::HeadSize},
    // Of experts that the file does not have.
    UnusedKey{"expert_used_count", Harmless::Off}, UnusedKey{"expert_shared_count", Harmless::Off},
    UnusedKey{"expert_group_count", Harmless::Off}, UnusedKey{"expert_group_used_count", Harmless::Off},
    UnusedKey{"expert_feed_forward_length", Harmless::Off},
    UnusedKey{"expert_shared_feed_forward_length", Harmless::Off},
    UnusedKey{"leading_dense_block_count", Harmless::Off}, UnusedKey{"nextn_predict_layers", Harmless::Off},
    // These values ask for what the decoder does anyway.
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
    return std::all_of(integers->begin(), integers->end(), isZero);
  if (const auto* numbers = std::get_if<std::vector<double>>(&value))
    return std::all_of(numbers->begin(), numbers->end(), isZero);
  return numberOf(value) == 0.0;
}

/// The base of the frequencies of the layers that have a window, or of those that have none.
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
  return std::any_of(kUnusedKeys.begin(), kUnusedKeys.end(), [&](const UnusedKey& known) {
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
  const std::string prefix = name("");
  for (const auto& [whole, value] : metadata().values()) {
    if (!whole.starts_with(prefix) || m_used.contains(whole)) continue;
    const std::string key = whole.substr(prefix.size());
    if (isKnown(key, value, config)) continue;
    throw fail(
        key, valueText(value),
        "no such key, or a value without effect: the program does not compute what this key asks for, so "
        "its logits would be wrong");
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
    std::transform(entries.begin(), entries.end(), std::back_inserter(windowed),
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
                  std::to_string(count) + ", one for each pair of a head that is turned");
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
