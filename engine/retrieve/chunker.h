// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a unit of a document into overlapping passages with a max number of tokens. Open this file to change
// where passages end.
#pragma once

#include "engine/base/error.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
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

}  // namespace spanscope::retrieve
