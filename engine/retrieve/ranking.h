// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks fragments by how well they fit a question, and keeps the reasons.
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

/// The place that one ranker gives a fragment.
struct Placing {
  std::size_t rank = 0;  ///< from 1
  double score = 0;
  bool operator==(const Placing&) const = default;
};

struct RankedFragment {
  Fragment fragment;  ///< its score is that of the whole ranking
  std::optional<Placing> lexical;
  std::optional<Placing> embedding;
};

/// Reciprocal rank fusion: the score of a fragment is the sum of 1 / (60 + its rank in the list), over the
/// lists that contain it (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and
/// individual Rank Learning Methods", SIGIR 2009). The best fragment comes first. Fragments with equal scores
/// keep the order of the lexical list, then that of the other list. Fragments with the same document and
/// number are the same.
std::vector<RankedFragment> fuseRanks(const std::vector<Fragment>& lexical,
                                      const std::vector<Fragment>& embedding);

/// The best fragments of the chosen documents, the best first. A single ranker gives `depth` fragments.
/// Hybrid fuses the `depth` best of each ranker, so it gives at most twice as many. The best fragment by
/// words is always among the first `depth`: only fragments in both lists can come before it. For rankings
/// other than Lexical, `embedder` must be given and the vectors of the documents must be in the index. Throws
/// Failure. If it was stopped, the result is empty.
std::vector<RankedFragment> rankFragments(const FragmentIndex& index, std::string_view question,
                                          std::size_t depth, Ranking ranking, const DocumentChoice& documents,
                                          Embedder* embedder, std::stop_token stop = {});

}  // namespace spanscope::retrieve
