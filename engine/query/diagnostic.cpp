// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/diagnostic.h"

#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"

#include <algorithm>
#include <utility>

namespace spanscope::query {

namespace {

/// Returns the first visible byte: editors do not show a byte order mark.
std::size_t beginOf(std::string_view text) {
  return text.size() - withoutByteOrderMark(text).size();
}

/// Moves `position` from the place of byte `from` to the place of byte `to`.
void advance(TextPosition& position, std::string_view text, std::size_t from, std::size_t to) {
  const std::string_view passed = text.substr(from, to - from);
  const std::size_t lastBreak = passed.rfind('\n');
  if (lastBreak == std::string_view::npos) {
    position.column += countCharacters(passed);
    return;
  }
  position.line += static_cast<std::size_t>(std::ranges::count(passed, '\n'));
  position.column = 1 + countCharacters(passed.substr(lastBreak + 1));
}

}  // namespace

std::string Diagnostic::message() const {
  return onOneLine(problemSentence(found, expected, hint, severity));
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
  return std::ranges::any_of(
      diagnostics, [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::Error; });
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

namespace {

/// Describes a byte at an impossible place, e.g. "the byte 0xff, which is not UTF-8".
void describeByte(char byte, std::string& text) {
  text += "the byte 0x";
  appendHex(text, static_cast<unsigned char>(byte), 2);
  text += ", which is not UTF-8 here";
}

}  // namespace

std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes) {
  Diagnostic problem;
  if (text.size() > maxBytes) {
    problem.position = {1, 1};
    problem.found = "a text of " + std::to_string(text.size()) + " bytes";
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
  std::ranges::replace(lines, '\r', '\n');
  return lines;
}

std::optional<SourceRange> SourceMap::find(std::string_view path) const {
  if (m_entries.empty()) return std::nullopt;
  std::size_t node = 0;
  while (!path.empty()) {
    const std::size_t end = m_entries[node].next;
    std::size_t child = node + 1;
    for (; child < end; child = m_entries[child].next) {
      const std::string& step = m_entries[child].step;
      if (path.starts_with(step) && (path.size() == step.size() || path[step.size()] == '/')) break;
    }
    if (child >= end) return std::nullopt;
    path.remove_prefix(m_entries[child].step.size());
    node = child;
  }
  return m_entries[node].range;
}

std::optional<NodePath> SourceMap::nodeAround(std::size_t offset) const {
  NodePath path;
  bool found = false;
  std::size_t node = 0;
  std::size_t end = m_entries.size();
  while (node < end) {
    const Entry& entry = m_entries[node];
    if (offset >= entry.range.begin && offset < entry.range.end) {
      path += entry.step;
      found = true;
      end = entry.next;
      ++node;
    } else {
      node = entry.next;
    }
  }
  if (!found) return std::nullopt;
  return path;
}

std::size_t SourceMap::open(std::string step, std::size_t begin) {
  m_entries.push_back({std::move(step), {begin, begin}, m_entries.size() + 1});
  return m_entries.size() - 1;
}

void SourceMap::close(std::size_t node, std::size_t end) {
  m_entries[node].range.end = end;
  m_entries[node].next = m_entries.size();
}

}  // namespace spanscope::query
