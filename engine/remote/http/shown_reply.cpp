// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/http/shown_reply.h"

#include "engine/base/utf8.h"
#include "engine/query/shown_text.h"

#include <algorithm>
#include <utility>

namespace spanscope::remote {

std::string shownReply(std::string_view text) {
  constexpr std::size_t kMostBytes = 4 * kReplyCharacters;
  return query::cutText(toValidUtf8(text.substr(0, kMostBytes)), kReplyCharacters);
}

std::optional<Error> problemOfKey(std::string_view key) {
  const auto refuse = [](std::string found) {
    return errorAt("key", std::move(found), "one line of text, as the server gave it");
  };
  if (key.size() > kMostKeyBytes) {
    return refuse("a key of " + std::to_string(key.size()) + " bytes, more than " +
                  std::to_string(kMostKeyBytes));
  }
  if (key.find_first_of("\r\n") != std::string_view::npos) return refuse("a key with a line break");
  const auto isControl = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::any_of(key.begin(), key.end(), isControl)) return refuse("a key with a control character");
  if (!isValidUtf8(key)) return refuse("a key that is no UTF-8");
  return std::nullopt;
}

std::string withoutKey(std::string_view text, std::string_view key) {
  constexpr std::size_t kShortest = 4;
  if (key.size() < kShortest) return std::string(text);
  std::string clean;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t at = i;
    std::size_t matched = 0;
    while (matched < key.size() && at < text.size()) {
      if (text[at] == '\\' && key[matched] == '/') ++at;
      if (at >= text.size() || text[at] != key[matched]) break;
      ++at;
      ++matched;
    }
    if (matched == key.size()) {
      clean += "[the key]";
      i = at;
    } else {
      clean += text[i++];
    }
  }
  return clean;
}

}  // namespace spanscope::remote
