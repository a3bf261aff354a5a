// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/shown_text.h"

#include "engine/base/utf8.h"

namespace spanscope::query {
std::string cutText(std::string_view text, std::size_t characters) {
  std::string cut;
  std::size_t count = 0;
  std::size_t beforeLast = 0;
  for (const char c : text) {
    if (!isUtf8Continuation(c)) {
      if (count == characters) {
        cut.resize(beforeLast);
        cut += "…";
        return cut;
      }
      beforeLast = cut.size();
      ++count;
    }
    const auto byte = static_cast<unsigned char>(c);
    cut += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return cut;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShownCharacters = 40;
  return "\"" + cutText(text.substr(0, 8 * kShownCharacters), kShownCharacters) + "\"";
}

}  // namespace spanscope::query
