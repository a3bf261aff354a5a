// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/bm25.h"

#include <algorithm>
#include <cmath>

namespace spanscope::retrieve {
namespace {

constexpr double kSaturation = 1.2;    ///< k1
constexpr double kLengthShare = 0.75;  ///< b
/// Of a word that is in more than half of the fragments, so that it counts a little.
constexpr double kLeastWeight = 1e-6;

/// How telling each word of the question is, by its number.
std::vector<double> weightsOf(const WordMatches& matches, double fragments) {
  std::vector<double> weights;
  for (std::size_t row = 0; row < matches.size(); ++row) {
    for (const WordCount& word : matches.counts(row)) {
      const auto at = static_cast<std::size_t>(word.word);
      if (at >= weights.size()) weights.resize(at + 1, 0.0);
      ++weights[at];
    }
  }
  std::transform(weights.begin(), weights.end(), weights.begin(), [fragments](double having) {
    const double weight = std::log((fragments - having + 0.5) / (having + 0.5));
    return weight > 0 ? weight : kLeastWeight;
  });
  return weights;
}

}  // namespace

std::vector<double> bm25Scores(const WordMatches& matches, const CollectionSize& collection) {
  const std::vector<double> weights = weightsOf(matches, static_cast<double>(collection.fragments));
  const double usualWords = static_cast<double>(collection.words) / static_cast<double>(collection.fragments);
  std::vector<double> scores;
  scores.reserve(matches.size());
  for (std::size_t row = 0; row < matches.size(); ++row) {
    const double length =
        1 - kLengthShare + kLengthShare * static_cast<double>(matches.words(row)) / usualWords;
    double score = 0;
    for (const WordCount& word : matches.counts(row)) {
      const double count = word.count;
      score += weights[static_cast<std::size_t>(word.word)] *
               ((count * (kSaturation + 1.0)) / (count + kSaturation * length));
    }
    scores.push_back(std::isfinite(score) ? score : 0);
  }
  return scores;
}

}  // namespace spanscope::retrieve
