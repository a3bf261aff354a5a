// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/ranking.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace spanscope::retrieve {
namespace {

/// The constant of the paper. The paper reports that its value matters little.
constexpr double kFusionConstant = 60;

constexpr std::array<std::pair<Ranking, const char*>, 3> kNames = {
    {{Ranking::Lexical, "lexical"}, {Ranking::Embedding, "embedding"}, {Ranking::Hybrid, "hybrid"}}};

}  // namespace

const char* rankingName(Ranking ranking) {
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.first == ranking; });
  return found->second;
}

std::optional<Ranking> parseRanking(std::string_view name) {
  const auto* const found =
      std::find_if(kNames.begin(), kNames.end(), [&](const auto& known) { return known.second == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->first);
}

std::vector<RankedFragment> fuseRanks(const std::vector<Fragment>& lexical,
                                      const std::vector<Fragment>& embedding) {
  std::vector<RankedFragment> fused;
  std::map<std::pair<DocumentKey, std::int64_t>, std::size_t> known;
  const auto take = [&](const std::vector<Fragment>& list, std::optional<Placing> RankedFragment::*place) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto [at, isNew] = known.try_emplace({list[i].document, list[i].number}, fused.size());
      if (isNew) {
        fused.push_back({.fragment = list[i], .lexical = {}, .embedding = {}});
        fused.back().fragment.score = 0;
      }
      RankedFragment& ranked = fused[at->second];
      ranked.*place = Placing{.rank = i + 1, .score = list[i].score};
      ranked.fragment.score += 1 / (kFusionConstant + static_cast<double>(i + 1));
    }
  };
  take(lexical, &RankedFragment::lexical);
  take(embedding, &RankedFragment::embedding);
  std::stable_sort(fused.begin(), fused.end(), [](const RankedFragment& a, const RankedFragment& b) {
    return a.fragment.score > b.fragment.score;
  });
  return fused;
}

std::vector<RankedFragment> rankFragments(const FragmentIndex& index, std::string_view question,
                                          std::size_t depth, Ranking ranking, const DocumentChoice& documents,
                                          Embedder* embedder, std::stop_token stop) {
  std::vector<Fragment> lexical;
  std::vector<Fragment> embedding;
  if (ranking != Ranking::Embedding) lexical = index.find(question, depth, documents);
  if (ranking != Ranking::Lexical && embedder != nullptr) {
    const std::string text(question);
    const std::vector<EmbeddingVector> vectors = embedder->embed({&text, 1}, std::move(stop));
    if (vectors.empty()) return {};
    embedding = index.nearest(vectors.front(), depth, *embedder, documents);
  }
  if (ranking == Ranking::Hybrid) return fuseRanks(lexical, embedding);
  std::vector<RankedFragment> ranked;
  const bool isLexical = ranking == Ranking::Lexical;
  for (Fragment& fragment : isLexical ? lexical : embedding) {
    const Placing placing{.rank = ranked.size() + 1, .score = fragment.score};
    RankedFragment& entry = ranked.emplace_back();
    entry.fragment = std::move(fragment);
    (isLexical ? entry.lexical : entry.embedding) = placing;
  }
  return ranked;
}

}  // namespace spanscope::retrieve
