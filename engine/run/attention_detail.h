// SPDX-License-Identifier: GPL-3.0-or-later
// How closely attention is recorded.
#pragma once

#include <cstdint>

namespace spanscope::run {

/// In prompts with more tokens than this, attention is recorded for key blocks only: attention to single keys
/// takes memory that grows with the square of the tokens.
inline constexpr std::int64_t kMostTokensForSingleKeys = 1024;

/// How much of the observed attention is recorded.
enum class AttentionDetail : std::uint8_t {
  /// Only the rows from which tokens of the reply are drawn. Attention to segments is recorded by layer and
  /// head, attention to key blocks as the mean over layers and heads.
  Answer,
  Prompt,  ///< The same, and also the rows of the prompt, by query block.
  Heads    ///< All rows: segments and key blocks, both by layer and head, which is a lot of data.
};

}  // namespace spanscope::run
