// SPDX-License-Identifier: GPL-3.0-or-later
// Reads chats in OpenAI's notation where a query is expected. A list of messages, {"role": …, "content": …},
// becomes a seq. The body of a chat-completions request becomes a generate node with this seq as input. Open
// this file when a pasted chat is read wrongly.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"
#include "engine/query/query_walk.h"

namespace spanscope::query {

enum class ChatForm {
  None,      ///< something else
  Messages,  ///< a list of messages
  Request    ///< an object with a list of messages
};

/// A listener that drops all issues. Another reader reports the errors of the text.
class NoIssues final : public ValueCursor::Listener {
 public:
  void jsonIssue(JsonIssue /*issue*/) override {}
};

/// Returns the chat form of a text. `cursor` is at the beginning of the text. The function looks ahead and
/// moves `cursor` back. `makeCursor` makes another cursor of the same text.
ChatForm chatFormOf(ValueCursor& cursor, const QueryWalk::MakeCursor& makeCursor);

/// Reads a value as a query. chatFormOf() has recognized the form of the value. Warns that a chat was read,
/// and adds the nodes of the query to `sources`. A query cannot express everything in a chat. A field that a
/// query cannot express is an error if the answer depends on it (tools, images). Otherwise the reader leaves
/// out the field with a warning.
void readChat(QueryWalk& walk, ChatForm form, SourceMap& sources, Node& node);

}  // namespace spanscope::query
