// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/lesson/wrapped_text.h"

#include <algorithm>
#include <cctype>

namespace spanscope::lesson {
namespace {

std::size_t charactersOf(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

bool isFence(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  return line.substr(begin).starts_with("```") || line.substr(begin).starts_with("~~~");
}

/// Characters before the text of a list's item: "- ", "  12. "; 0: it begins none.
std::size_t markerLength(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string_view::npos) return 0;
  std::size_t end = begin;
  while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
  const bool isNumber = end > begin && end < line.size() && (line[end] == '.' || line[end] == ')');
  const bool isMark = end == begin && (line[end] == '-' || line[end] == '*' || line[end] == '+');
  if ((!isNumber && !isMark) || end + 1 >= line.size() || line[end + 1] != ' ') return 0;
  return end + 2;
}

/// Whether a line stands by itself: a heading, a row of a table, a quotation, code.
bool standsAlone(std::string_view line) {
  return line.starts_with('#') || line.starts_with('|') || line.starts_with('>') || line.starts_with("    ");
}

class Wrapper {
 public:
  explicit Wrapper(std::size_t columns) : m_columns(columns) {}

  std::string wrap(std::string_view markdown) {
    bool isCode = false;
    while (!markdown.empty()) {
      const std::size_t end = std::min(markdown.find('\n'), markdown.size());
      const std::string_view line = markdown.substr(0, end);
      const bool endsLine = end < markdown.size();
      markdown.remove_prefix(std::min(end + 1, markdown.size()));
      const bool fence = isFence(line);
      if (isCode || fence || line.find_first_not_of(' ') == std::string_view::npos ||
          (m_words.empty() && standsAlone(line))) {
        flush();
        m_out += line;
        if (endsLine) m_out += '\n';
        isCode = isCode != fence;
        continue;
      }
      take(line);
      if (line.ends_with("  ") || line.ends_with('\\')) flush();
      if (markdown.empty()) {
        flush();
        if (!endsLine) m_out.pop_back();
      }
    }
    return std::move(m_out);
  }

 private:
  void take(std::string_view line) {
    if (const std::size_t marker = markerLength(line); marker > 0) {
      flush();
      m_first = line.substr(0, marker);
      m_rest = std::string(marker, ' ');
      line.remove_prefix(marker);
    } else if (m_words.empty()) {
      m_first = m_rest = line.substr(0, line.find_first_not_of(' '));
    }
    if (!m_words.empty()) m_words += ' ';
    m_words += line.substr(std::min(line.find_first_not_of(' '), line.size()));
  }

  void flush() {
    std::string_view words = m_words;
    std::string line = m_first;
    std::size_t used = charactersOf(line);
    bool isEmpty = true;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      const std::string_view word = words.substr(0, end);
      words.remove_prefix(std::min(end + 1, words.size()));
      if (word.empty()) continue;
      const std::size_t length = charactersOf(word);
      if (!isEmpty && used + 1 + length > m_columns) {
        m_out += line + '\n';
        line = m_rest;
        used = charactersOf(line);
        isEmpty = true;
      }
      if (!isEmpty) line += ' ';
      line += word;
      used += length + (isEmpty ? 0 : 1);
      isEmpty = false;
    }
    if (!isEmpty) m_out += line + '\n';
    m_words.clear();
    m_first.clear();
    m_rest.clear();
  }

  std::size_t m_columns;
  std::string m_out;
  std::string m_words;  ///< of the paragraph or item in work
  std::string m_first;  ///< before its first line
  std::string m_rest;   ///< and before the others
};

}  // namespace

std::string wrapped(std::string_view markdown, std::size_t columns) {
  return Wrapper(columns).wrap(markdown);
}

}  // namespace spanscope::lesson
