// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/diagnostic.h"

#include "engine/base/utf8.h"
#include "engine/base/visible_text.h"

#include <algorithm>

namespace spanscope::query {
namespace {

/// The first byte that a person sees: editors do not show a byte order mark.
std::size_t beginOf(std::string_view text) {
  return text.size() - withoutByteOrderMark(text).size();
}

/// Moves `position` from byte `from`, whose place it is, to byte `to`.
void advance(TextPosition& position, std::string_view text, std::size_t from, std::size_t to) {
  const std::string_view passed = text.substr(from, to - from);
  const std::size_t lastBreak = passed.rfind('\n');
  if (lastBreak == std::string_view::npos) {
    position.column += countCharacters(passed);
    return;
  }
  position.line += static_cast<std::size_t>(std::count(passed.begin(), passed.end(), '\n'));
  position.column = 1 + countCharacters(passed.substr(lastBreak + 1));
}

}  // namespace

std::string Diagnostic::message() const {
  std::string sentence;
  if (!found.empty()) sentence = "found " + found;
  if (!expected.empty()) {
    if (!sentence.empty()) sentence += ", ";
    sentence += "expected " + expected;
  }
  if (!hint.empty()) {
    if (!sentence.empty()) sentence += "; ";
    sentence += hint;
  }
  return onOneLine(sentence);
}

std::string Diagnostic::located(std::string_view file) const {
  std::string line = onOneLine(file);
  if (position.line > 0) {
    if (!line.empty()) line += ':';
    line += std::to_string(position.line) + ":" + std::to_string(position.column);
  }
  if (!line.empty()) line += ": ";
  if (!pointer.empty()) line += onOneLine(pointer) + ": ";
  return line + message();
}

bool hasErrors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
}

TextPosition positionAt(std::string_view text, std::size_t offset) {
  TextPosition position{1, 1};
  const std::size_t begin = beginOf(text);
  advance(position, text, begin, std::clamp(offset, begin, text.size()));
  return position;
}

void locate(std::vector<Diagnostic>& diagnostics, std::string_view text) {
  TextPosition position{1, 1};
  std::size_t passed = beginOf(text);
  for (Diagnostic& diagnostic : diagnostics) {
    const std::size_t offset = std::clamp(diagnostic.offset, passed, text.size());
    advance(position, text, passed, offset);
    passed = offset;
    diagnostic.position = position;
  }
}

}  // namespace spanscope::query
