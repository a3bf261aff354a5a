// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/shown_text.h"

#include "engine/base/utf8.h"

namespace spanscope::query {
std::string cutText(std::string_view text, std::size_t characters) {
  std::string cut;
  std::size_t count = 0;
  std::size_t beforeLast = 0;
  while (!text.empty()) {
    const Utf8Step step = nextUtf8(text);
    const std::string_view part = text.substr(0, step.length);
    if (!isUtf8Continuation(part.front())) {
      if (count == characters) {
        cut.resize(beforeLast);
        cut += "…";
        return cut;
      }
      beforeLast = cut.size();
      ++count;
    }
    if (step.kind == Utf8Step::Kind::Character && isControl(part)) {
      cut += ' ';
    } else {
      cut += part;
    }
    text.remove_prefix(part.size());
  }
  return cut;
}

std::string inQuotes(std::string_view text) {
  constexpr std::size_t kShownCharacters = 40;
  return "\"" + cutText(text.substr(0, 8 * kShownCharacters), kShownCharacters) + "\"";
}

}  // namespace spanscope::query
