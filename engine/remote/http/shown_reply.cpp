// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/http/shown_reply.h"

#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

namespace spanscope::remote {

std::string shownReply(std::string_view text) {
  constexpr std::size_t kMostBytes = 4 * kReplyCharacters;
  return query::cutText(toValidUtf8(text.substr(0, kMostBytes)), kReplyCharacters);
}

}  // namespace spanscope::remote
