// SPDX-License-Identifier: GPL-3.0-or-later
// Compares the prompts of two requests token by token, for a picture. Open this file to change what the two
// token strips show.
#pragma once

#include "engine/doctor/alignment.h"
#include "engine/doctor/logged_request.h"
#include "engine/doctor/prompt_tokens.h"

#include <cstddef>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::doctor {

/// The tokens of a prompt as texts.
struct PromptPieces {
  std::vector<std::string> texts;  ///< of each token, valid UTF-8, without secrets
  std::vector<SectionTokens> sections;
  std::vector<std::string> names;  ///< of each section
};

struct PromptComparison {
  PromptPieces before;
  PromptPieces now;
  std::size_t common = 0;  ///< tokens of the longest common prefix
  /// Texts of `now` after the common prefix that are anywhere in `before`. The repeats are in order and do
  /// not overlap. `Repeat::request` is 0.
  std::vector<Repeat> repeats;
  bool isEstimated = false;
};

/// `repeatTokens`: min length of a repeat, at least 2. Throws Failure if a prompt cannot be rendered, and
/// after a stop.
PromptComparison comparePrompts(const LoggedRequest& before, const LoggedRequest& now,
                                const PromptTokenizer& tokenizer, std::size_t repeatTokens,
                                const std::stop_token& stop = {});

}  // namespace spanscope::doctor
