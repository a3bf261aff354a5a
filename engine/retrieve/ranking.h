// SPDX-License-Identifier: GPL-3.0-or-later
// The order in which fragments fit a question, and what put them there.
#pragma once

#include "engine/retrieve/embedder.h"
#include "engine/retrieve/fragment.h"
#include "engine/retrieve/fragment_index.h"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::retrieve {

enum class Ranking {
  Lexical,    ///< by words: BM25
  Embedding,  ///< by the cosine of vectors
  Hybrid      ///< by both, fused
};
/// "lexical", "embedding", "hybrid".
const char* rankingName(Ranking ranking);
std::optional<Ranking> parseRanking(std::string_view name);

/// Where one ranker puts a fragment.
struct Placing {
  std::size_t rank = 0;  ///< from 1
  double score = 0;
  bool operator==(const Placing&) const = default;
};

struct RankedFragment {
  Fragment fragment;  ///< its score is that of the ranking
  std::optional<Placing> lexical;
  std::optional<Placing> embedding;
};

/// Reciprocal rank fusion: the score of a fragment is the sum, over the lists that it is in, of 1 / (60 + its
/// rank there) (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual
/// Rank Learning Methods", SIGIR 2009). Best first; equal ones in the order of the lexical list, then of the
/// other. Fragments are the same if document and number are.
std::vector<RankedFragment> fuseRanks(const std::vector<Fragment>& lexical,
                                      const std::vector<Fragment>& embedding);

/// The best fragments of the chosen documents, best first: `depth` of a single ranker or, for Hybrid, what
/// the fusion makes of that many of each, so at most twice as many. The first one by words is always among
/// the first `depth`: only what is in both lists can stand before it. For other rankings than Lexical,
/// `embedder` is given and the vectors of the documents are in the index. Throws Failure; stopped, it gives
/// nothing.
std::vector<RankedFragment> rankFragments(const FragmentIndex& index, std::string_view question,
                                          std::size_t depth, Ranking ranking, const DocumentChoice& documents,
                                          Embedder* embedder, std::stop_token stop = {});

}  // namespace spanscope::retrieve
