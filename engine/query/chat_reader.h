// SPDX-License-Identifier: GPL-3.0-or-later
// Chats in OpenAI's notation where a query belongs: a list of messages, {"role": …, "content": …}, is read as
// a seq, the body of a chat-completions request as a generate over it.
#pragma once

#include "engine/query/query.h"
#include "engine/query/query_walk.h"
#include "engine/query/source_map.h"

namespace spanscope::query {

enum class ChatForm {
  None,      ///< something else
  Messages,  ///< a list of messages
  Request    ///< an object with a list of messages
};

/// What the next value is. Looks ahead and goes back.
ChatForm chatFormOf(ValueCursor& cursor);

/// Reads the value that chatFormOf() has named as a query with a warning that says so. Enters its nodes in
/// `sources`. What a query cannot say is refused if the reply is about it (tools, images), else left out with
/// a warning.
void readChat(QueryWalk& walk, ChatForm form, SourceMap& sources, Node& node);

}  // namespace spanscope::query
