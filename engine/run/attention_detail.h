// SPDX-License-Identifier: GPL-3.0-or-later
// How closely attention is recorded.
#pragma once

#include <cstdint>

namespace spanscope::run {

/// The attention of longer prompts is recorded for key blocks only: single keys take memory that grows with
/// the square of the tokens.
inline constexpr std::int64_t kMostTokensForSingleKeys = 1024;

/// How much of the observed attention is recorded.
enum class AttentionDetail : std::uint8_t {
  /// Of each row that a token of the reply is drawn from: segments by layer and head, and key blocks as the
  /// mean over layers and heads.
  Answer,
  Prompt,  ///< The same of the prompt's rows as well, by query block.
  Heads    ///< Of all rows segments and key blocks by layer and head; for key blocks that is a great deal.
};

}  // namespace spanscope::run
