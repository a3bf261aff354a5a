// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/fidelity_figures.h"

#include "engine/base/counted.h"
#include "engine/base/median.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <utility>

namespace spanscope::trace {
namespace {

void sumUp(DivergenceFigures& figures, std::vector<double> divergences) {
  if (divergences.empty()) return;
  figures.meanDivergence =
      std::accumulate(divergences.begin(), divergences.end(), 0.0) / static_cast<double>(divergences.size());
  figures.mostDivergence = *std::max_element(divergences.begin(), divergences.end());
  figures.medianDivergence = medianOf(std::move(divergences)).value_or(0);
}

}  // namespace

double FidelityFigures::agreement() const {
  return tokens == 0 ? 1 : static_cast<double>(agreeing) / static_cast<double>(tokens);
}

std::optional<double> FidelityFigures::meanAttentionDeviation() const {
  if (attentionDeviation.empty()) return std::nullopt;
  return std::accumulate(attentionDeviation.begin(), attentionDeviation.end(), 0.0) /
         static_cast<double>(attentionDeviation.size());
}

bool isGreedy(const FidelityMeasured& measured) {
  return std::all_of(measured.tokens.begin(), measured.tokens.end(),
                     [](const FidelityToken& token) { return token.token == token.policyBest; });
}

std::int64_t agreedTokens(const FidelityMeasured& measured) {
  const std::size_t both = std::min(measured.tokens.size(), measured.fullAnswer.size());
  std::size_t agreed = 0;
  while (agreed < both && measured.tokens[agreed].token == measured.fullAnswer[agreed]) ++agreed;
  return static_cast<std::int64_t>(agreed);
}

FidelityFigures fidelityOf(std::span<const FidelityMeasured* const> measured) {
  FidelityFigures figures;
  std::vector<double> divergences;
  for (const FidelityMeasured* step : measured) {
    ++figures.steps;
    figures.tokens += static_cast<std::int64_t>(step->tokens.size());
    for (const FidelityToken& token : step->tokens) {
      divergences.push_back(token.divergence);
      figures.agreeing += token.policyBest == token.fullBest ? 1 : 0;
    }
    if (isGreedy(*step)) {
      const std::int64_t agreed = agreedTokens(*step);
      const auto length = static_cast<std::int64_t>(step->tokens.size());
      figures.agreedTokens += agreed;
      figures.answerTokens += length;
      figures.sameAnswers += agreed == length ? 1 : 0;
      figures.sameTexts += step->sameText ? 1 : 0;
    } else {
      ++figures.sampledSteps;
    }
    if (step->attentionRows == 0) continue;
    figures.attentionRows += step->attentionRows;
    std::vector<double>& sums = figures.attentionDeviation;
    sums.resize(std::max(sums.size(), step->attentionDeviation.size()));
    for (std::size_t layer = 0; layer < step->attentionDeviation.size(); ++layer)
      sums[layer] += step->attentionDeviation[layer] * step->attentionRows;
  }
  for (double& sum : figures.attentionDeviation) sum /= static_cast<double>(figures.attentionRows);
  sumUp(figures, std::move(divergences));
  return figures;
}

DivergenceFigures arithmeticOf(std::span<const ArithmeticMeasured* const> measured) {
  DivergenceFigures figures;
  std::vector<double> divergences;
  for (const ArithmeticMeasured* step : measured) {
    for (const ArithmeticToken& token : step->tokens) {
      ++figures.tokens;
      figures.agreeing += token.best == token.exactBest ? 1 : 0;
      divergences.push_back(token.divergence);
    }
  }
  sumUp(figures, std::move(divergences));
  return figures;
}

std::string divergenceText(double nats) {
  if (nats == 0) return "0";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), nats < 99 ? "%.2g" : "%.0f", nats);
  return text.data();
}

std::string divergenceText(const DivergenceFigures& figures) {
  return "KL " + divergenceText(figures.meanDivergence) + " (median " +
         divergenceText(figures.medianDivergence) + ", most " + divergenceText(figures.mostDivergence) +
         "), " + std::to_string(figures.agreeing) + " of " +
         counted(figures.tokens, "token agrees", "tokens agree");
}

std::string fidelityText(const FidelityFigures& figures) {
  const std::string text = divergenceText(static_cast<const DivergenceFigures&>(figures));
  const std::int64_t compared = figures.steps - figures.sampledSteps;
  if (compared == 0) return text + ", answer drawn at random";
  if (figures.steps == 1) {
    if (figures.sameAnswers == 1) return text + ", same answer";
    if (figures.agreedTokens == 0) return text + ", another answer from the first token on";
    return text + ", another answer after " + counted(figures.agreedTokens, "token");
  }
  return text + ", " + std::to_string(figures.sameAnswers) + " of " +
         counted(compared, "answer is the same", "answers are the same");
}

}  // namespace spanscope::trace
