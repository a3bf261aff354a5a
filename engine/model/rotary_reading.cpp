// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/rotary_reading.h"

#include "engine/base/counted.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

namespace spanscope::model {
namespace {

using checkpoint::inQuotes;
using checkpoint::JsonPlace;

constexpr double kMaxRopeFactor = 1e6;
constexpr const char* kProportional = "proportional";

/// As in transformers, the field beside the scaling has priority over the field in the scaling.
std::int64_t originalPositions(const JsonPlace& config, const JsonPlace& fields, std::int64_t otherwise) {
  constexpr const char* kField = "original_max_position_embeddings";
  if (config.has(kField)) return config.integer(kField, 1, kMaxPositions);
  return fields.integer(kField, 1, kMaxPositions, otherwise);
}

Llama3Scaling readLlama3(const JsonPlace& config, const JsonPlace& fields, std::int64_t maxPositions) {
  Llama3Scaling scaling;
  scaling.factor = fields.number("factor", 1, kMaxRopeFactor);
  scaling.lowFrequencyFactor = fields.number("low_freq_factor", 1e-6, kMaxRopeFactor);
  scaling.highFrequencyFactor = fields.number("high_freq_factor", 1e-6, kMaxRopeFactor);
  scaling.originalMaxPositions = originalPositions(config, fields, maxPositions);
  if (scaling.highFrequencyFactor <= scaling.lowFrequencyFactor) {
    throw fields.field("high_freq_factor").fail("at most low_freq_factor", "more than low_freq_factor");
  }
  return scaling;
}

void readYarn(const JsonPlace& config, const JsonPlace& fields, std::int64_t maxPositions,
              RotarySpec& result) {
  YarnScaling scaling;
  scaling.originalMaxPositions = originalPositions(config, fields, maxPositions);
  const double stretched =
      static_cast<double>(maxPositions) / static_cast<double>(scaling.originalMaxPositions);
  scaling.factor = fields.number("factor", 1e-3, kMaxRopeFactor, stretched);
  // 0 counts as absent.
  const auto numberOr = [&fields](const char* name, double otherwise) {
    const double value = fields.number(name, 0, kMaxRopeFactor, 0);
    return value == 0 ? otherwise : value;
  };
  scaling.betaFast = numberOr("beta_fast", scaling.betaFast);
  scaling.betaSlow = numberOr("beta_slow", scaling.betaSlow);
  scaling.truncates = fields.flag("truncate", true);
  const double weight = numberOr("mscale", 0);
  const double weightOfAll = numberOr("mscale_all_dim", 0);
  double scale = yarnScale(scaling.factor, 1);
  if (weight > 0 && weightOfAll > 0)
    scale = yarnScale(scaling.factor, weight) / yarnScale(scaling.factor, weightOfAll);
  result.attentionScale = static_cast<float>(fields.number("attention_factor", 1e-3, kMaxRopeFactor, scale));
  result.yarn = scaling;
}

std::vector<float> readFactors(const JsonPlace& fields, const char* name, std::int32_t pairs) {
  const std::vector<double> numbers = fields.numbers(name, 1e-6, kMaxRopeFactor);
  if (numbers.size() != static_cast<std::size_t>(pairs)) {
    throw fields.field(name).fail(counted(numbers.size(), "factor"),
                                  std::to_string(pairs) + ", one for each rotated pair");
  }
  std::vector<float> factors(numbers.size());
  std::ranges::transform(numbers, factors.begin(), [](double number) { return static_cast<float>(number); });
  return factors;
}

void readLongRope(const JsonPlace& config, const JsonPlace& fields, const ModelConfig& model,
                  RotarySpec& result) {
  LongRope rope;
  const std::int32_t turned = result.turned > 0 ? result.turned : model.headSize;
  rope.shortFactors = readFactors(fields, "short_factor", turned / 2);
  rope.longFactors = readFactors(fields, "long_factor", turned / 2);
  rope.originalMaxPositions = originalPositions(config, fields, model.maxPositions);
  const double stretched =
      static_cast<double>(model.maxPositions) / static_cast<double>(rope.originalMaxPositions);
  // Configurations of Phi state the factor by the two contexts.
  const double factor = fields.number("factor", 1e-3, kMaxRopeFactor, stretched);
  result.attentionScale = static_cast<float>(fields.number("attention_factor", 1e-3, kMaxRopeFactor,
                                                           longRopeScale(factor, rope.originalMaxPositions)));
  result.longRope = std::move(rope);
}

/// `rope_scaling` of older files and `rope_parameters` of newer files have the same fields.
void readScaling(const JsonPlace& config, const JsonPlace& fields, const ModelConfig& model,
                 RotarySpec& result) {
  const char* typeField = fields.has("rope_type") ? "rope_type" : "type";
  const std::string type = fields.text(typeField).value_or("default");
  if (type == "default") return;
  if (type == kProportional) {
    const std::int32_t pairs = model.headSize / 2;
    const auto rotated =
        static_cast<std::int32_t>(fields.number("partial_rotary_factor", 0, 1, 1) * model.headSize / 2);
    if (rotated < 1) {
      throw fields.field("partial_rotary_factor")
          .fail("no rotated pair in a head of " + counted(model.headSize, "element"),
                "at least one rotated pair");
    }
    result.firstPairs = rotated == pairs ? 0 : rotated;
    result.linearFactor = fields.number("factor", 1e-3, kMaxRopeFactor, 1);
    return;
  }
  if (type == "linear") {
    result.linearFactor = fields.number("factor", 1e-3, kMaxRopeFactor);
  } else if (type == "llama3") {
    result.llama3 = readLlama3(config, fields, model.maxPositions);
  } else if (type == "yarn") {
    readYarn(config, fields, model.maxPositions, result);
  } else if (type == "longrope" || type == "su") {
    readLongRope(config, fields, model, result);
  } else {
    const bool isDynamic = type == "dynamic";
    throw fields.field(typeField).fail(
        inQuotes(type),
        std::string("\"default\", \"linear\", \"llama3\", \"yarn\", \"longrope\" or \"proportional\"") +
            (isDynamic ? ". With dynamic scaling, a key depends on the length "
                         "of the prompt, so stored keys cannot be reused"
                       : ". Other types are not supported"));
  }
}

/// Returns the number of rotated elements of each head, which must be even.
std::int32_t readTurned(const JsonPlace& fields, std::int32_t headSize) {
  const double part = fields.number("partial_rotary_factor", 0, 1, 1);
  const auto turned = static_cast<std::int32_t>(headSize * part);
  if (turned < 2 || turned % 2 != 0) {
    throw fields.field("partial_rotary_factor")
        .fail(std::to_string(turned) + " rotated of " + counted(headSize, "element"),
              "an even number of rotated elements, from 2");
  }
  return turned == headSize ? 0 : turned;
}

}  // namespace

double yarnScale(double factor, double weight) {
  return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1;
}

double longRopeScale(double factor, std::int64_t originalPositions) {
  return factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(originalPositions)));
}

RotarySpec parseRotary(const JsonPlace& config, const ModelConfig& model, double theta,
                       const std::string& kind) {
  auto newer = config.object("rope_parameters");
  if (newer && newer->value().contains(kind)) newer = newer->object(kind);
  // Only an object for each type describes types other than kMainKind.
  const bool isMain = kind == kMainKind;
  const auto older = isMain ? config.object("rope_scaling") : std::nullopt;
  const std::array<const JsonPlace*, 3> places{isMain ? &config : nullptr, older ? &*older : nullptr,
                                               newer ? &*newer : nullptr};

  RotarySpec result;
  for (const JsonPlace* fields : places) {
    if (fields != nullptr && fields->has("partial_rotary_factor") &&
        fields->text("rope_type") != std::optional<std::string>(kProportional))
      result.turned = readTurned(*fields, model.headSize);
  }
  RotarySpec stated = result;
  if (older) readScaling(config, *older, model, result);
  if (newer) {
    readScaling(config, *newer, model, stated);
    if (older && stated != result)
      throw config.field("rope_parameters").fail("another scaling than in rope_scaling", "the same scaling");
    result = stated;
  }

  std::optional<double> base;
  for (const JsonPlace* fields : places) {
    if (fields == nullptr || !fields->has("rope_theta")) continue;
    const double value = fields->number("rope_theta", 1, kMaxRopeTheta);
    if (base && value != *base)
      throw fields->field("rope_theta").fail("two different values in the file", "equal values");
    base = value;
  }
  result.theta = base.value_or(theta);
  return result;
}

}  // namespace spanscope::model
