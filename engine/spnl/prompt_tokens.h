// SPDX-License-Identifier: GPL-3.0-or-later
// A query as the prompt tokens that a span server is sent: templates, markers, padding and cropping.
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
  std::int32_t blockSize = 16;     ///< tokens, from 1 up
  TokenId pad = 0;                 ///< fills up blocks
  std::optional<TokenId> plus{};   ///< begins each child of a plus
  std::optional<TokenId> cross{};  ///< begins the last child of a cross
};

/// The prompts of one bulk call.
struct CallTokens {
  NodePath node;       ///< the generate, repeat or map it was made from
  bool isMap = false;  ///< a prompt of each input; else one prompt
  std::vector<std::vector<TokenId>> prompts;
};

/// The prompts of each call of the query that can be sent as it is (spnl::serverBodies), in the order
/// in which they must be sent; an end that was asked for leaves calls out. Throws Failure if an id is not in
/// the vocabulary, an option is out of range or a text cannot be rendered.
std::vector<CallTokens> promptTokens(const query::Node& query, const text::Tokenizer& tokenizer,
                                     const text::ChatTemplate& chat, const PromptTokenOptions& options,
                                     const std::stop_token& stop = {});

/// {"ids": […]} on one line, without a line break at its end; of a map, a list for each input.
std::string tokensOnOneLine(const CallTokens& call);
/// The same JSON with the ids of a block on each line; ends with a line break.
std::string tokensByBlock(const CallTokens& call, std::int32_t blockSize);

}  // namespace spanscope::spnl
