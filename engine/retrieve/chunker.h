// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a unit of a document into overlapping passages with a max number of tokens. Open this file to change
// where passages end.
//
// A tree of summaries over the passages of a document, after RAPTOR (Sarthi et al., "RAPTOR: Recursive
// Abstractive Processing for Tree-Organized Retrieval", ICLR 2024). There are two differences. A summary
// covers neighbours in the text, not clusters of vectors. The tree therefore depends only on the document. A
// search covers all levels at the same time (RAPTOR's "collapsed tree"). Open this file to change how
// summaries are grouped.
#pragma once

#include "engine/base/error.h"
#include "engine/retrieve/passage.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::retrieve {

// Limits of retrieval options.

inline constexpr std::int32_t kMaxPassages = 10'000;  ///< of an augment
/// Min number of tokens in a passage.
inline constexpr std::int32_t kMinChunkTokens = 8;
inline constexpr std::int32_t kMaxChunkTokens = 1 << 20;

struct ChunkOptions {
  std::int32_t tokens = 128;  ///< max tokens in a passage: kMinChunkTokens … kMaxChunkTokens
  std::int32_t overlap = 16;  ///< max tokens that a passage shares with the one before: 0 … tokens / 4
  bool operator==(const ChunkOptions&) const = default;
};

/// Returns the error in the options, or nothing if they are in their ranges.
std::optional<Error> checkChunkOptions(const ChunkOptions& options);

/// A passage: consecutive tokens of the unit.
struct Chunk {
  std::size_t firstToken = 0;
  std::size_t tokenCount = 0;
  std::string text;  ///< the text of the tokens; the text encoded alone may have a few tokens more or fewer
  bool operator==(const Chunk&) const = default;
};

/// Returns the passages of a unit, in order. The options must be in their ranges. Throws Failure when
/// stopped, and if the tokenizer throws Failure. Rules:
/// - Together the passages contain every token. No passage has more than options.tokens tokens.
/// - If there are several passages, the last passage has at least options.tokens / 4 tokens. The
///   other passages have at least options.tokens / 2 tokens.
/// - Each passage except the last ends at the end of a sentence, if a sentence ends in the allowed range.
///   Otherwise the passage ends at the end of a word, if a word ends in this range.
/// - Each passage except the first begins in the last options.overlap tokens of the passage before. The
///   passage begins with the first sentence in these tokens, or else with the first word.
/// - No character is split.
std::vector<Chunk> chunkUnit(std::string_view unit, const text::Tokenizer& tokenizer,
                             const ChunkOptions& options, const std::stop_token& stop = {});

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
