// SPDX-License-Identifier: GPL-3.0-or-later
// Writes an edited query back as the chat from which it was read. Open this file when a saved chat lost
// something. The writer keeps everything in the chat that the query cannot contain:
// - other fields of a request ("stop", "seed");
// - fields of messages ("name");
// - the order of the fields, and white space.
#pragma once

#include "engine/query/chat_reader.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Returns the chat form of a JSON text. The function does not check that the text is a valid query.
ChatForm chatFormOf(std::string_view json);

/// Returns the messages of a query that a chat can contain. The messages are the children of a seq that has
/// only messages. For a request, this seq is the input of the generate node at the root. Returns nullptr for
/// other queries.
const std::vector<Node>* chatMessages(const Node& query, ChatForm form);

struct RewrittenChat {
  std::string text;
  /// Warnings about fields of the chat that the new text lacks, with their places in the chat. The messages
  /// of these fields may still be in the new text.
  std::vector<Diagnostic> lost;
};

/// Writes `query` as a chat of the same form as `chat`. `chat` is a JSON text that can be read as a query.
/// `origins` has one entry for each of the chatMessages() of `query`. An entry is the index of the same
/// message in the query of `chat`, or nothing if unknown. A message without an origin replaces an equal
/// message of the chat. Returns nothing in two cases:
/// - The new chat would be read as another query than `query`.
/// - The list has a new system message, and the chat has a system prompt beside the list (Anthropic's API).
std::optional<RewrittenChat> rewriteChat(std::string_view chat, const Node& query,
                                         const std::vector<std::optional<std::size_t>>& origins);

}  // namespace spanscope::query
