// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/refuse_text.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <string>

namespace spanscope::query {
namespace {

/// Describes a byte at an impossible place, e.g. "the byte 0xff, which is not UTF-8".
void describeByte(char byte, std::string& text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(byte);
  text += "the byte 0x";
  text += kDigits[value >> 4U];
  text += kDigits[value & 15U];
  text += ", which is not UTF-8 here";
}

}  // namespace

std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes) {
  Diagnostic problem;
  if (text.size() > maxBytes) {
    problem.position = {1, 1};
    problem.found = "a document of " + std::to_string(text.size()) + " bytes";
    problem.expected = "at most " + std::to_string(maxBytes);
    return problem;
  }
  if (const char* const kind = kindOfBytes(text)) {
    problem.position = {1, 1};
    problem.found = kind;
    problem.expected = "a query: a text in JSON, YAML or Lisp";
    return problem;
  }
  if (utf8OfWide(text)) {
    problem.position = {1, 1};
    problem.found = "a text in UTF-16 or UTF-32";
    problem.expected = "UTF-8";
    problem.hint = "save the file as UTF-8";
    return problem;
  }
  const std::size_t invalid = findInvalidUtf8(text);
  if (invalid == std::string_view::npos) return std::nullopt;
  problem.offset = invalid;
  problem.position = positionAt(text, invalid);
  describeByte(text[invalid], problem.found);
  problem.expected = "UTF-8";
  problem.hint = "save the file as UTF-8";
  return problem;
}

std::optional<std::string> withLineFeeds(std::string_view text) {
  const bool hasReturnsAlone =
      text.find('\r') != std::string_view::npos && text.find('\n') == std::string_view::npos;
  if (!hasReturnsAlone) return std::nullopt;
  std::string lines(text);
  std::replace(lines.begin(), lines.end(), '\r', '\n');
  return lines;
}

}  // namespace spanscope::query
