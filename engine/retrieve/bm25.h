// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/retrieve/word_counts.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spanscope::retrieve {

/// The size of all fragments that are searched, with or without a word of the question.
struct CollectionSize {
  std::int64_t fragments = 0;
  std::int64_t words = 0;  ///< of all fragments
};

/// BM25 of each match in a collection (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25
/// and Beyond", 2009); higher is better. It uses the constants of FTS5: k1 = 1.2, b = 0.75, and at least 1e-6
/// as the weight of a word. So scores equal FTS5's to the last bit if FTS5's table contains only this
/// collection. `matches` are all fragments of the collection that contain a word of the question. A score
/// that is not a number becomes 0.
std::vector<double> bm25Scores(const WordMatches& matches, const CollectionSize& collection);

}  // namespace spanscope::retrieve
