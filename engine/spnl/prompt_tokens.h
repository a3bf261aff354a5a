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

// The padded and cropped layout with marker tokens: exactly the tokens that IBM/spnl 0.22 sends to a span
// server. It serves export, comparison and teaching. Here the tokens carry the structure; Spanscope itself
// keeps the structure in the span table.
//
//  - Each child of a plus begins at a block boundary: padding, then the plus marker.
//  - The last child of a cross begins at a block boundary: padding, then the cross marker.
//  - An assistant message loses its closing tokens. Then it is cropped so that it ends at a block boundary;
//    if it does not reach one, all of it is lost.
//  - The generation prompt gets padding and a plus marker of its own if both markers are set and the last
//    marker token before it is a plus.
//  - Nothing is padded at the end. A map is an exception: each input is a plus child of its own, is padded at
//    the end, and has no generation prompt.
// Without a marker there is no padding for it either. Assistant messages are still cropped.

struct MarkerOptions {
  std::int32_t blockSize = 16;  ///< tokens, at least 1
  TokenId pad = 0;
  std::optional<TokenId> plus;
  std::optional<TokenId> cross;
  std::int32_t assistantSuffix = 0;  ///< number of closing tokens of an assistant message, at least 0
};

struct BodyTokens {
  std::vector<std::vector<TokenId>> messages;  ///< the tokens of the template's text for each message of
                                               ///< messagesOf()
  std::vector<TokenId> generationPrompt;
};

/// The messages of a body in the order of the layout. For a map: its inputs as user messages.
std::vector<query::Message> messagesOf(const query::Node& body);

/// The prompt of a generate or repeat; for a map, one prompt per input. Throws Failure if no server takes the
/// query as a body (spnl::isServerBody), the numbers of token lists and messages differ, or an option is out
/// of range.
std::vector<std::vector<TokenId>> layoutWithMarkers(const query::Node& body, const BodyTokens& tokens,
                                                    const MarkerOptions& options);

}  // namespace spanscope::spnl
