// SPDX-License-Identifier: GPL-3.0-or-later
// Reads chats in OpenAI's notation in the place of a query: a list of messages, {"role": …, "content": …},
// becomes a seq; the body of a chat-completions request becomes a generate over it.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/query.h"
#include "engine/query/query_walk.h"

namespace spanscope::query {

enum class ChatForm {
  None,      ///< something else
  Messages,  ///< a list of messages
  Request    ///< an object with a list of messages
};

/// For a look at a text whose errors are reported elsewhere.
class NoIssues final : public ValueCursor::Listener {
 public:
  void jsonIssue(JsonIssue /*issue*/) override {}
};

/// Which chat form a text has. `cursor` is at its beginning; it looks ahead and goes back. `makeCursor`:
/// makes another one of the same text.
ChatForm chatFormOf(ValueCursor& cursor, const QueryWalk::MakeCursor& makeCursor);

/// Reads a value as a query; chatFormOf() has recognized its form. Warns that a chat was read, and adds its
/// nodes to `sources`. A query cannot express everything in a chat: if the reply is about such a thing
/// (tools, images), it is an error, else it is left out with a warning.
void readChat(QueryWalk& walk, ChatForm form, SourceMap& sources, Node& node);

}  // namespace spanscope::query
