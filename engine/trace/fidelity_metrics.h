// SPDX-License-Identifier: GPL-3.0-or-later
// Summarizes the measured fidelity of one step or of a whole run. Open this file to add a metric of fidelity.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::trace {

/// The distance between two ways to compute the tokens of answers.
struct DivergenceMetrics {
  std::int64_t tokens = 0;    ///< tokens of the answers
  std::int64_t agreeing = 0;  ///< token positions where both have the same most likely token
  double meanDivergence = 0;  ///< nats, over the tokens; also for the next two
  double medianDivergence = 0;
  double mostDivergence = 0;
  bool operator==(const DivergenceMetrics&) const = default;
};

struct FidelityMetrics : DivergenceMetrics {
  std::int64_t steps = 0;
  /// Steps with sampled answers. The answer of a full prefill is greedy, so it cannot be compared with
  /// sampled answers. The counts below do not include these steps.
  std::int64_t sampledSteps = 0;
  std::int64_t sameAnswers = 0;   ///< steps for which a full prefill gives the same tokens
  std::int64_t sameTexts = 0;     ///< steps for which a full prefill gives the same text
  std::int64_t agreedTokens = 0;  ///< tokens before the first difference, over these steps
  std::int64_t answerTokens = 0;  ///< tokens of the answers of these steps
  /// By layer: the mean over the compared rows. Empty without such rows.
  std::vector<double> attentionDeviation;
  std::int64_t attentionRows = 0;

  double agreement() const;  ///< agreeing / tokens, 0 … 1; 1 without tokens
  /// Returns the mean over all layers.
  std::optional<double> meanAttentionDeviation() const;
  bool operator==(const FidelityMetrics&) const = default;
};

FidelityMetrics fidelityOf(std::span<const FidelityMeasured* const> measured);
/// Returns the distance between the arithmetic and f32.
DivergenceMetrics arithmeticOf(std::span<const ArithmeticMeasured* const> measured);

/// Whether each token of the answer is the most likely token with its policy.
bool isGreedy(const FidelityMeasured& measured);
/// Returns the number of tokens of the answer before the first difference from a full prefill.
std::int64_t agreedTokens(const FidelityMeasured& measured);

/// Returns e.g. "KL 0.012 (median 0.003, max 0.14), 23 of 24 tokens agree".
std::string divergenceText(const DivergenceMetrics& divergence);
/// Returns e.g. "KL 0.012 (median 0.003, max 0.14), 23 of 24 tokens agree, same answer".
std::string fidelityText(const FidelityMetrics& fidelity);

/// Returns a divergence in nats with two significant digits; "0" only if it is exactly 0.
std::string divergenceText(double nats);

}  // namespace spanscope::trace
