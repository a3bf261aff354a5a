// SPDX-License-Identifier: GPL-3.0-or-later
// A tree of summaries over the passages of a document, after RAPTOR (Sarthi et al., "RAPTOR: Recursive
// Abstractive Processing for Tree-Organized Retrieval", ICLR 2024). There are two differences. A summary
// covers neighbours in the text, not clusters of vectors. The tree therefore depends only on the document. A
// search covers all levels at the same time (RAPTOR's "collapsed tree"). Open this file to change how
// summaries are grouped.
#pragma once

#include "engine/retrieve/passage.h"

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

  /// Identifies everything that a summary depends on, except the texts. This identity is part of the key of
  /// stored summaries.
  virtual std::string fingerprint() const = 0;

  /// Returns the number of texts of one summary; at least 2.
  virtual std::size_t groupSize() const = 0;

  /// Returns one summary for each group, in order, or nothing after a stop. Throws Failure if summaries
  /// cannot be made.
  virtual std::vector<std::string> summarize(std::span<const std::vector<std::string>> groups,
                                             std::stop_token stop) = 0;
};

/// Max number of passages of a document that gets summaries. Each summary costs a generation.
inline constexpr std::size_t kMaxSummarizedPassages = 10'000;

/// Stores summaries by a key with everything that they depend on.
class SummaryStore {
 public:
  virtual ~SummaryStore() = default;
  virtual std::optional<std::string> find(const std::string& key) = 0;
  virtual void keep(const std::vector<std::pair<std::string, std::string>>& summaries) = 0;
};

/// Appends the summaries to the passages of a document, level by level, up to one summary of the whole. Each
/// summary covers a group of neighbours. A group has at least two texts and at most the summarizer's group
/// size. The sizes of the groups are as equal as possible. Only text, level and place of a passage are read
/// and written. An empty summary is left out. If the only summary of a level is empty, the tree ends. Returns
/// false after a stop. Throws Failure, also for more than kMaxSummarizedPassages passages.
bool addSummaries(std::vector<Passage>& passages, Summarizer& summarizer, SummaryStore& store,
                  const Watch& watch);

}  // namespace spanscope::retrieve
