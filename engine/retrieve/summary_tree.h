// SPDX-License-Identifier: GPL-3.0-or-later
// A tree of summaries over the fragments of a document, after RAPTOR (Sarthi et al., "RAPTOR: Recursive
// Abstractive Processing for Tree-Organized Retrieval", ICLR 2024), with two departures: what is summarised
// together are neighbours in the text, not clusters of vectors, so that the tree depends on the document
// alone; and all levels are searched at once (its "collapsed tree").
#pragma once

#include "engine/retrieve/fragment.h"
#include "engine/retrieve/summarizer.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// Most fragments of a document of which summaries are made: each costs a share of a generation.
inline constexpr std::size_t kMaxSummarizedFragments = 10'000;

/// Keeps summaries under a key made of everything that they depend on.
class SummaryStore {
 public:
  virtual ~SummaryStore() = default;
  virtual std::optional<std::string> find(const std::string& key) = 0;
  virtual void keep(const std::vector<std::pair<std::string, std::string>>& summaries) = 0;
};

/// Adds the summaries to the fragments of a document, level by level, up to one of the whole: neighbours in
/// groups of the summarizer's size, as even as can be and of at least two. Only text, level and place of a
/// fragment are read and written. A summary that is blank is left out, and ends the tree if it is the only
/// one. False if it was stopped. Throws Failure, also for more than kMaxSummarizedFragments.
bool addSummaries(std::vector<Fragment>& fragments, Summarizer& summarizer, SummaryStore& store,
                  const Watch& watch);

}  // namespace spanscope::retrieve
