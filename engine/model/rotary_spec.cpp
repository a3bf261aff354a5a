// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/rotary_spec.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spanscope::model {

namespace {

/// Frequency scaling of Llama 3.1, as in its reference implementation (meta-llama/llama-models,
/// models/llama3/reference_impl/model.py, apply_scaling). The wavelength is λ = 2π/f. L is the context length
/// of the first training.
/// - λ < L/high keeps f.
/// - λ > L/low gives f/factor.
/// - Between the two, the frequency changes linearly in L/λ.
double scaled(double frequency, const Llama3Scaling& scaling) {
  const double turns = static_cast<double>(scaling.originalMaxPositions) * frequency / (2 * std::numbers::pi);
  if (turns > scaling.highFrequencyFactor) return frequency;
  if (turns < scaling.lowFrequencyFactor) return frequency / scaling.factor;
  const double kept =
      (turns - scaling.lowFrequencyFactor) / (scaling.highFrequencyFactor - scaling.lowFrequencyFactor);
  return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

/// YaRN, with limits counted in pairs:
/// - Pairs with at least betaFast rotations over the original context keep their frequency.
/// - The factor divides the frequency of pairs with fewer than betaSlow rotations.
/// - Between the two limits, the frequency changes linearly.
class YarnRamp {
 public:
  YarnRamp(const YarnScaling& scaling, double theta, std::int32_t turned) : m_factor(scaling.factor) {
    const auto pairOf = [&](double turns) {
      const double length = static_cast<double>(scaling.originalMaxPositions);
      return turned * std::log(length / (turns * 2 * std::numbers::pi)) / (2 * std::log(theta));
    };
    m_low = pairOf(scaling.betaFast);
    m_high = pairOf(scaling.betaSlow);
    if (scaling.truncates) {
      m_low = std::floor(m_low);
      m_high = std::ceil(m_high);
    }
    m_low = std::max(m_low, 0.0);
    m_high = std::min(m_high, turned - 1.0);
    if (m_low == m_high) m_high += 0.001;
  }

  double scaled(double frequency, std::int32_t pair) const {
    const double divided = std::clamp((pair - m_low) / (m_high - m_low), 0.0, 1.0);
    return frequency / m_factor * divided + frequency * (1 - divided);
  }

 private:
  double m_factor;
  double m_low = 0;
  double m_high = 0;
};

}  // namespace

compute::RotaryTable makeRotaryTable(const AttentionKind& kind, std::int32_t headSize) {
  compute::RotaryTable table;
  table.inverseFrequencies.assign(static_cast<std::size_t>(headSize / 2), 0);
  if (!kind.rotary) return table;
  const RotarySpec& rotary = *kind.rotary;
  table.attentionScale = rotary.attentionScale;
  const std::int32_t turned = rotary.turned > 0 ? rotary.turned : headSize;
  const std::vector<float>* divisors = &rotary.factors;
  if (rotary.longRope)
    divisors = rotary.longRope->isLong ? &rotary.longRope->longFactors : &rotary.longRope->shortFactors;
  std::optional<YarnRamp> ramp;
  if (rotary.yarn) ramp.emplace(*rotary.yarn, rotary.theta, turned);
  for (std::int32_t i = 0; i < turned / 2; ++i) {
    const auto pair = static_cast<std::size_t>(i);
    const double divisor = divisors->empty() ? 1 : static_cast<double>((*divisors)[pair]);
    double frequency = std::pow(rotary.theta, -2.0 * i / turned) / divisor / rotary.linearFactor;
    if (rotary.llama3) frequency = scaled(frequency, *rotary.llama3);
    if (ramp) frequency = ramp->scaled(frequency, i);
    table.inverseFrequencies[pair] = frequency;
  }
  return table;
}

}  // namespace spanscope::model
