// SPDX-License-Identifier: GPL-3.0-or-later
// A tree of summaries over the fragments of a document, after RAPTOR (Sarthi et al., "RAPTOR: Recursive
// Abstractive Processing for Tree-Organized Retrieval", ICLR 2024). There are two differences. A summary
// covers neighbours in the text, not clusters of vectors, so that the tree depends only on the document. And
// a search covers all levels at once (RAPTOR's "collapsed tree").
#pragma once

#include "engine/retrieve/fragment.h"

#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::retrieve {

/// Writes summaries of groups of texts.
class Summarizer {
 public:
  virtual ~Summarizer() = default;

  /// Identifies everything besides the texts that a summary depends on. It is part of the key of stored
  /// summaries.
  virtual std::string fingerprint() const = 0;

  /// How many texts one summary covers; at least 2.
  virtual std::size_t groupSize() const = 0;

  /// One summary for each group, in order, or nothing if it was stopped. Throws Failure if summaries cannot
  /// be made.
  virtual std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                             std::stop_token stop) = 0;
};

/// Most fragments of a document that gets summaries: each summary costs a generation.
inline constexpr std::size_t kMaxSummarizedFragments = 10'000;

/// Stores summaries by a key that depends on everything that they depend on.
class SummaryStore {
 public:
  virtual ~SummaryStore() = default;
  virtual std::optional<std::string> find(const std::string& key) = 0;
  virtual void keep(const std::vector<std::pair<std::string, std::string>>& summaries) = 0;
};

/// Appends the summaries to the fragments of a document, level by level, up to one summary of the whole. Each
/// summary covers a group of neighbours: at most the summarizer's group size, at least two, and all groups as
/// equal as possible. Only text, level and place of a fragment are read and written. A blank summary is left
/// out; if a level has only one summary and it is blank, the tree ends. False if it was stopped. Throws
/// Failure, also for more than kMaxSummarizedFragments fragments.
bool addSummaries(std::vector<Fragment>& fragments, Summarizer& summarizer, SummaryStore& store,
                  const Watch& watch);

}  // namespace spanscope::retrieve
