// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/word_counts.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::retrieve {

/// The fragments that are searched, with or without a word of the question.
struct CollectionSize {
  std::int64_t fragments = 0;
  std::int64_t words = 0;  ///< of all of them
};

/// BM25 of each match in a collection (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25
/// and Beyond", 2009), higher is better: with k1 = 1.2 and b = 0.75, and the least weight of a word 1e-6, as
/// FTS5 has them, so that scores are FTS5's to the last bit where its table holds that collection alone.
/// `matches` are all fragments of the collection with a word of the question. A score that is no number is 0.
std::vector<double> bm25Scores(const WordMatches& matches, const CollectionSize& collection);

}  // namespace spanscope::retrieve
