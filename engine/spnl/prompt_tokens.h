// SPDX-License-Identifier: GPL-3.0-or-later
// The prompt tokens that a span server gets for a query: templates, markers, padding and cropping.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::spnl {

struct PromptTokenOptions {
  std::int32_t blockSize = 16;     ///< tokens, at least 1
  TokenId pad = 0;                 ///< fills up blocks
  std::optional<TokenId> plus{};   ///< begins each child of a plus
  std::optional<TokenId> cross{};  ///< begins the last child of a cross
};

/// The prompts of one bulk call.
struct CallTokens {
  NodePath node;       ///< the generate, repeat or map that the call was made from
  bool isMap = false;  ///< one prompt per input; otherwise one prompt
  std::vector<std::vector<TokenId>> prompts;
};

/// The prompts of each call of the query that can be sent as it is (spnl::serverBodies), in the order in
/// which they must be sent. After a stop, the call that was being made and later ones are missing. Throws
/// Failure if an id is not in the vocabulary, an option is out of range or a text cannot be rendered.
std::vector<CallTokens> promptTokens(const query::Node& query, const text::Tokenizer& tokenizer,
                                     const text::ChatTemplate& chat, const PromptTokenOptions& options,
                                     const std::stop_token& stop = {});

/// {"ids": […]} on one line, without a line break at its end. For a map, one list per input.
std::string tokensOnOneLine(const CallTokens& call);
/// The same JSON with one block of ids per line. It ends with a line break.
std::string tokensByBlock(const CallTokens& call, std::int32_t blockSize);

}  // namespace spanscope::spnl
