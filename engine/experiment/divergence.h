// SPDX-License-Identifier: GPL-3.0-or-later
// Compares two rows of logits as predictions of the next token, in double precision.
#pragma once

#include "engine/base/ids.h"

#include <span>

namespace spanscope::experiment {

/// A distribution of the next token: softmax of a row of logits without NaN and +∞.
class Distribution {
 public:
  explicit Distribution(std::span<const float> logits);  ///< must outlive the object

  double logProbability(TokenId token) const;  ///< natural logarithm
  double probability(TokenId token) const;
  TokenId best() const { return m_best; }  ///< of equal logits the lowest id, as in greedy sampling

  /// KL(this ‖ other) in nats. It is 0 if and only if the two are equal, and exactly 0 for equal logits. It
  /// is ∞ if the other gives probability 0 to a token to which this one does not.
  double divergenceFrom(const Distribution& other) const;

 private:
  std::span<const float> m_logits;
  TokenId m_best = 0;
  double m_logTotal = 0;  ///< log Σ exp(logit)
};

}  // namespace spanscope::experiment
