// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts a passage into chunks of a bounded number of tokens, which overlap.
#pragma once

#include "engine/base/error.h"
#include "engine/retrieve/retrieval_limits.h"
#include "engine/text/tokenizer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::retrieve {

struct ChunkOptions {
  std::int32_t tokens = 128;  ///< most tokens of a chunk: kMinChunkTokens … kMaxChunkTokens
  std::int32_t overlap = 16;  ///< most tokens that a chunk shares with the one before: 0 … tokens / 4
  bool operator==(const ChunkOptions&) const = default;
};

/// What is wrong with the options; nothing if they are in their ranges.
std::optional<Error> checkChunkOptions(const ChunkOptions& options);

/// A run of the passage's tokens.
struct Chunk {
  std::size_t firstToken = 0;
  std::size_t tokenCount = 0;
  std::string text;  ///< what the tokens stand for; encoded alone it may take some tokens more or less
  bool operator==(const Chunk&) const = default;
};

/// The chunks of a passage in their order: together they hold every token and none is more than
/// options.tokens long. Where there are several, all but the last are at least half as long, and the last a
/// quarter. One that is not the last ends with a sentence (or, failing that, a word) if one ends where it may
/// end. One that is not the first begins within the last options.overlap tokens of the one before, with the
/// first sentence, else the first word that begins there. No character is cut in two. The options are in
/// their ranges. Throws Failure where the tokenizer does, and on a stop.
std::vector<Chunk> chunkPassage(std::string_view passage, const text::Tokenizer& tokenizer,
                                const ChunkOptions& options, const std::stop_token& stop = {});

}  // namespace spanscope::retrieve
