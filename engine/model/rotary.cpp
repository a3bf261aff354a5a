// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/config.h"

#include <cmath>
#include <numbers>

namespace spanscope::model {

namespace {

/// Frequency scaling of Llama 3.1, as its reference implementation defines it (meta-llama/llama-models,
/// models/llama3/reference_impl/model.py, apply_scaling). With the wavelength λ = 2π/f and the context length
/// L of the first training: λ < L/high keeps f; λ > L/low gives f/factor; between the two the frequency goes
/// from one to the other linearly in L/λ.
double scaled(double frequency, const Llama3Scaling& scaling) {
  const double turns = static_cast<double>(scaling.originalMaxPositions) * frequency / (2 * std::numbers::pi);
  if (turns > scaling.highFrequencyFactor) return frequency;
  if (turns < scaling.lowFrequencyFactor) return frequency / scaling.factor;
  const double kept =
      (turns - scaling.lowFrequencyFactor) / (scaling.highFrequencyFactor - scaling.lowFrequencyFactor);
  return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

}  // namespace

compute::RotaryTable makeRotaryTable(const ModelConfig& config) {
  compute::RotaryTable table;
  for (std::int32_t i = 0; i < config.headSize / 2; ++i) {
    const double frequency = std::pow(config.ropeTheta, -2.0 * i / config.headSize);
    const double divisor =
        config.ropeFactors.empty() ? 1 : static_cast<double>(config.ropeFactors[static_cast<std::size_t>(i)]);
    table.inverseFrequencies.push_back(config.hasLlama3Scaling ? scaled(frequency, config.llama3)
                                                               : frequency / divisor);
  }
  return table;
}

}  // namespace spanscope::model
