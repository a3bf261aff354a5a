// SPDX-License-Identifier: GPL-3.0-or-later
// What two rows of logits say of the next token, held against each other in double precision.
#pragma once

#include "engine/base/ids.h"

#include <span>

namespace spanscope::experiment {

/// A next-token distribution: softmax of a row of logits, none of which is a NaN or +∞.
class Distribution {
 public:
  explicit Distribution(std::span<const float> logits);  ///< which must outlive it

  double logProbability(TokenId token) const;  ///< natural logarithm
  double probability(TokenId token) const;
  TokenId best() const { return m_best; }  ///< of equal logits the lowest id, as greedy sampling draws

  /// KL(this ‖ other) in nats: 0 if and only if the two are equal, and exactly 0 for equal logits. ∞ where
  /// the other rules out what this one does not.
  double divergenceFrom(const Distribution& other) const;

 private:
  std::span<const float> m_logits;
  TokenId m_best = 0;
  double m_logTotal = 0;  ///< log Σ exp(logit)
};

}  // namespace spanscope::experiment
