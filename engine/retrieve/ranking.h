// SPDX-License-Identifier: GPL-3.0-or-later
// Ranks chunks by how well they match a question, and keeps the reasons. Open this file to change hybrid
// ranking.
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
/// Returns "lexical", "embedding" or "hybrid".
const char* rankingName(Ranking ranking);
std::optional<Ranking> parseRanking(std::string_view name);

/// The place that one ranker gives a chunk.
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

/// Fuses two lists by reciprocal rank fusion (Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion
/// outperforms Condorcet …", SIGIR 2009). Each list that contains a chunk adds 1 / (60 + its rank there) to
/// its score. The best chunk comes first. Chunks with equal scores keep the order of the lexical list, then
/// that of the other list. Chunks with the same document and number are the same.
std::vector<RankedFragment> fuseRanks(const std::vector<Fragment>& lexical,
                                      const std::vector<Fragment>& embedding);

/// Returns the best chunks of the chosen documents, the best first. A single ranker gives `depth` chunks.
/// Hybrid fuses the `depth` best of each ranker, and gives at most twice as many. The best lexical chunk is
/// always among the first `depth`, because only chunks in both lists can come before it. Rankings other than
/// Lexical need `embedder`, and the vectors of the documents in the index. Throws Failure. After a stop, the
/// result is empty.
std::vector<RankedFragment> rankFragments(const FragmentIndex& index, std::string_view question,
                                          std::size_t depth, Ranking ranking, const DocumentChoice& documents,
                                          Embedder* embedder, std::stop_token stop = {});

}  // namespace spanscope::retrieve
