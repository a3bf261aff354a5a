// SPDX-License-Identifier: GPL-3.0-or-later
// What measured fidelity comes to, of one step or of a whole run: the same figures wherever they are said.
#pragma once

#include "engine/trace/event.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::trace {

/// How far two ways to compute the tokens of replies are apart.
struct DivergenceFigures {
  std::int64_t tokens = 0;    ///< of the replies
  std::int64_t agreeing = 0;  ///< tokens at whose place both would choose the same one greedily
  double meanDivergence = 0;  ///< nats, over the tokens, as are those that follow
  double medianDivergence = 0;
  double mostDivergence = 0;
  bool operator==(const DivergenceFigures&) const = default;
};

struct FidelityFigures : DivergenceFigures {
  std::int64_t steps = 0;
  /// Replies that were not chosen greedily: what a full prefill says greedily is no answer to compare them
  /// with, and they are not counted below.
  std::int64_t sampledSteps = 0;
  std::int64_t sameAnswers = 0;   ///< steps of which a full prefill gives the same tokens
  std::int64_t sameTexts = 0;     ///< and those of which it gives the same text
  std::int64_t agreedTokens = 0;  ///< tokens before the first difference, over those steps
  std::int64_t answerTokens = 0;  ///< tokens of their replies
  /// By layer, the mean over the rows that were compared; empty where none were.
  std::vector<double> attentionDeviation;
  std::int64_t attentionRows = 0;

  double agreement() const;  ///< 0 … 1; 1 where there are no tokens
  /// Over all layers.
  std::optional<double> meanAttentionDeviation() const;
  bool operator==(const FidelityFigures&) const = default;
};

FidelityFigures fidelityOf(std::span<const FidelityMeasured* const> measured);
/// Of the arithmetic against f32.
DivergenceFigures arithmeticOf(std::span<const ArithmeticMeasured* const> measured);

/// Whether every token of the reply is the likeliest one as its policy has it.
bool isGreedy(const FidelityMeasured& measured);
/// Tokens of the reply before the first that a full prefill would not have given.
std::int64_t agreedTokens(const FidelityMeasured& measured);

/// "KL 0.012 (median 0.003, most 0.14), 23 of 24 tokens agree"
std::string divergenceText(const DivergenceFigures& figures);
/// "KL 0.012 (median 0.003, most 0.14), 23 of 24 tokens agree, same answer"
std::string fidelityText(const FidelityFigures& figures);

/// A divergence in nats to two places that count; "0" only where it is nothing at all.
std::string divergenceText(double nats);

}  // namespace spanscope::trace
