// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/divergence.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace spanscope::experiment {

Distribution::Distribution(std::span<const float> logits) : m_logits(logits) {
  if (logits.empty()) return;
  const auto best = std::max_element(logits.begin(), logits.end());
  m_best = static_cast<TokenId>(best - logits.begin());
  const auto most = static_cast<double>(*best);
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit) - most);
  m_logTotal = most + std::log(total);
}

double Distribution::logProbability(TokenId token) const {
  return static_cast<double>(m_logits[static_cast<std::size_t>(token)]) - m_logTotal;
}

double Distribution::probability(TokenId token) const {
  return std::exp(logProbability(token));
}

double Distribution::divergenceFrom(const Distribution& other) const {
  double sum = 0;
  for (std::size_t i = 0; i < m_logits.size(); ++i) {
    const auto token = static_cast<TokenId>(i);
    const double mine = logProbability(token);
    const double weight = std::exp(mine);
    if (weight > 0) sum += weight * (mine - other.logProbability(token));
  }
  // Rounding can carry what is nearly nothing below it.
  return std::max(0.0, sum);
}

}  // namespace spanscope::experiment
