// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/fidelity_metrics.h"

#include "engine/base/counted.h"
#include "engine/base/median.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <numeric>
#include <utility>

namespace spanscope::trace {
namespace {

void sumUp(DivergenceMetrics& divergence, std::vector<double> divergences) {
  if (divergences.empty()) return;
  divergence.meanDivergence =
      std::accumulate(divergences.begin(), divergences.end(), 0.0) / static_cast<double>(divergences.size());
  divergence.mostDivergence = *std::ranges::max_element(divergences);
  divergence.medianDivergence = medianOf(std::move(divergences)).value_or(0);
}

}  // namespace

double FidelityMetrics::agreement() const {
  return tokens == 0 ? 1 : static_cast<double>(agreeing) / static_cast<double>(tokens);
}

std::optional<double> FidelityMetrics::meanAttentionDeviation() const {
  if (attentionDeviation.empty()) return std::nullopt;
  return std::accumulate(attentionDeviation.begin(), attentionDeviation.end(), 0.0) /
         static_cast<double>(attentionDeviation.size());
}

bool isGreedy(const FidelityMeasured& measured) {
  return std::ranges::all_of(measured.tokens,
                             [](const FidelityToken& token) { return token.token == token.policyBest; });
}

std::int64_t agreedTokens(const FidelityMeasured& measured) {
  const std::size_t both = std::min(measured.tokens.size(), measured.fullAnswer.size());
  std::size_t agreed = 0;
  while (agreed < both && measured.tokens[agreed].token == measured.fullAnswer[agreed]) ++agreed;
  return static_cast<std::int64_t>(agreed);
}

FidelityMetrics fidelityOf(std::span<const FidelityMeasured* const> measured) {
  FidelityMetrics fidelity;
  std::vector<double> divergences;
  for (const FidelityMeasured* step : measured) {
    ++fidelity.steps;
    fidelity.tokens += static_cast<std::int64_t>(step->tokens.size());
    for (const FidelityToken& token : step->tokens) {
      divergences.push_back(token.divergence);
      fidelity.agreeing += token.policyBest == token.fullBest ? 1 : 0;
    }
    if (isGreedy(*step)) {
      const std::int64_t agreed = agreedTokens(*step);
      const auto length = static_cast<std::int64_t>(step->tokens.size());
      fidelity.agreedTokens += agreed;
      fidelity.answerTokens += length;
      fidelity.sameAnswers += agreed == length ? 1 : 0;
      fidelity.sameTexts += step->sameText ? 1 : 0;
    } else {
      ++fidelity.sampledSteps;
    }
    if (step->attentionRows == 0) continue;
    fidelity.attentionRows += step->attentionRows;
    std::vector<double>& sums = fidelity.attentionDeviation;
    sums.resize(std::max(sums.size(), step->attentionDeviation.size()));
    for (std::size_t layer = 0; layer < step->attentionDeviation.size(); ++layer)
      sums[layer] += step->attentionDeviation[layer] * step->attentionRows;
  }
  for (double& sum : fidelity.attentionDeviation) sum /= static_cast<double>(fidelity.attentionRows);
  sumUp(fidelity, std::move(divergences));
  return fidelity;
}

DivergenceMetrics arithmeticOf(std::span<const ArithmeticMeasured* const> measured) {
  DivergenceMetrics divergence;
  std::vector<double> divergences;
  for (const ArithmeticMeasured* step : measured) {
    for (const ArithmeticToken& token : step->tokens) {
      ++divergence.tokens;
      divergence.agreeing += token.best == token.exactBest ? 1 : 0;
      divergences.push_back(token.divergence);
    }
  }
  sumUp(divergence, std::move(divergences));
  return divergence;
}

std::string divergenceText(double nats) {
  if (nats == 0) return "0";
  if (nats >= 99) return fixedPoint(nats, 0);
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), nats, std::chars_format::general, 2);
  return {text.data(), end.ptr};
}

std::string divergenceText(const DivergenceMetrics& divergence) {
  return "KL " + divergenceText(divergence.meanDivergence) + " (median " +
         divergenceText(divergence.medianDivergence) + ", max " + divergenceText(divergence.mostDivergence) +
         "), " + std::to_string(divergence.agreeing) + " of " +
         counted(divergence.tokens, "token agrees", "tokens agree");
}

std::string fidelityText(const FidelityMetrics& fidelity) {
  const std::string text = divergenceText(static_cast<const DivergenceMetrics&>(fidelity));
  const std::int64_t compared = fidelity.steps - fidelity.sampledSteps;
  if (compared == 0) return text + ", sampled answer";
  if (fidelity.steps == 1) {
    if (fidelity.sameAnswers == 1) return text + ", same answer";
    if (fidelity.agreedTokens == 0) return text + ", different answer from the first token on";
    return text + ", different answer after " + counted(fidelity.agreedTokens, "token");
  }
  return text + ", " + std::to_string(fidelity.sameAnswers) + " of " +
         counted(compared, /*id:answer-same*/ "answer is the same", "answers are the same");
}

}  // namespace spanscope::trace
