// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the prompt tokens that a server with span support gets for a query. Handles templates, delimiters,
// padding and truncation. Open this file when exported tokens differ from SPNL's.
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
  TokenId pad = 0;                 ///< the padding
  std::optional<TokenId> plus{};   ///< begins each child of a plus
  std::optional<TokenId> cross{};  ///< begins the last child of a cross
};

/// The prompts of one bulk call.
struct CallTokens {
  NodePath node;       ///< the origin of the call: a generate, repeat or map node
  bool isMap = false;  ///< one prompt per input; otherwise one prompt
  std::vector<std::vector<TokenId>> prompts;
};

/// Returns the prompts of each call of the query that can be sent unchanged (spnl::serverBodies), in sending
/// order. After a stop, the current call and later calls are missing. Throws Failure in these cases:
/// - An id is not in the vocabulary.
/// - An option is out of range.
/// - A text cannot be rendered.
std::vector<CallTokens> promptTokens(const query::Node& query, const text::Tokenizer& tokenizer,
                                     const text::ChatTemplate& chat, const PromptTokenOptions& options,
                                     const std::stop_token& stop = {});

/// Returns {"ids": […]} on one line, without a line break at its end. A map has one list per input.
std::string tokensOnOneLine(const CallTokens& call);
/// Returns the same JSON with one block of ids per line. The text ends with a line break.
std::string tokensByBlock(const CallTokens& call, std::int32_t blockSize);

// Computes the padded and cropped layout with delimiter tokens. The tokens are exactly the tokens that
// IBM/spnl 0.22 sends to a server with span support. The layout is for export, comparison and teaching. In
// this layout, delimiter tokens mark the structure. Spanscope itself keeps the structure in the span table.
//
// - Each child of a plus begins at a block boundary: padding, then the plus delimiter.
// - The last child of a cross begins at a block boundary: padding, then the cross delimiter.
// - An assistant message loses its closing tokens. Then the message is truncated to end at a block boundary.
//   Without a block boundary in the message, the whole message is lost.
// - The generation prompt may get padding and a plus delimiter of its own. Both delimiters must be set, and
//   the last delimiter before the generation prompt must be a plus.
// - Nothing is padded at the end. A map is an exception. Each input of a map is a plus child, is padded at
//   the end, and has no generation prompt.
//
// Without a delimiter, there is no padding for this delimiter. Assistant messages are still truncated.

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

/// Returns the messages of a body in the order of the layout. For a map: the inputs as user messages.
std::vector<query::Message> messagesOf(const query::Node& body);

/// Returns the prompt of a generate or repeat, or one prompt per input of a map. Throws Failure in these
/// cases:
/// - No server accepts the query as a body (spnl::isServerBody).
/// - The numbers of token lists and messages differ.
/// - An option is out of range.
std::vector<std::vector<TokenId>> layoutWithMarkers(const query::Node& body, const BodyTokens& tokens,
                                                    const MarkerOptions& options);

}  // namespace spanscope::spnl
