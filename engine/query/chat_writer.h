// SPDX-License-Identifier: GPL-3.0-or-later
// Writes an edited query back as the chat from which it was read. Everything in the chat that the query
// cannot hold stays as it was: other fields of a request ("stop", "seed"), fields of messages ("name"), the
// order of the fields, and white space.
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

/// Which chat form a JSON text has. The text may be no query all the same.
ChatForm chatFormOf(std::string_view json);

/// The messages of a query that a chat can hold: the children of a seq that consists of messages alone. For
/// a request, the seq is the input of the generate that is the root. Nullptr: the query is another one.
const std::vector<Node>* chatMessages(const Node& query, ChatForm form);

struct RewrittenChat {
  std::string text;
  /// Parts of the chat that the new text does not have, although their messages may still be there. They
  /// are warnings with their places in the chat.
  std::vector<Diagnostic> lost;
};

/// Writes `query` as a chat of the same form as `chat`, a JSON text that can be read as a query. `origins`
/// has an entry for each of the chatMessages() of `query`: the index of the same message in the query that
/// `chat` is read as; nothing if it is not known. A message without an origin takes the place of an equal one
/// of the chat. Returns nothing if the new chat would be read as another query than `query`. The same holds
/// for a new system message in the list, if the chat has a system prompt beside the list (Anthropic's API).
std::optional<RewrittenChat> rewriteChat(std::string_view chat, const Node& query,
                                         const std::vector<std::optional<std::size_t>>& origins);

}  // namespace spanscope::query
