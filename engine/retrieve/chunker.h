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
  std::string text;  ///< the text of the tokens; encoded alone it may have a few tokens more or fewer
  bool operator==(const Chunk&) const = default;
};

/// Returns the passages of a unit, in order. The options must be in their ranges. Throws Failure on a stop,
/// and if the tokenizer does. Rules:
/// - Together the passages contain every token. No passage has more than options.tokens tokens.
/// - If there are several, the last has at least a quarter of this length, and the others at least half.
/// - A passage (except the last) ends with a sentence if one ends in the allowed range. Otherwise it ends
///   with a word if one ends there.
/// - A passage (except the first) begins in the last options.overlap tokens of the passage before. It begins
///   with the first sentence there, or else with the first word.
/// - No character is split.
std::vector<Chunk> chunkUnit(std::string_view unit, const text::Tokenizer& tokenizer,
                             const ChunkOptions& options, const std::stop_token& stop = {});

}  // namespace spanscope::retrieve
