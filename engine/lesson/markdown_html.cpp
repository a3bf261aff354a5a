// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/visible_text.h"
#include "engine/lesson/page.h"

#include <algorithm>
#include <vector>

namespace spanscope::lesson {
namespace {

/// Puts emphasis, code and links into one run of text.
class InlineHtml {
 public:
  explicit InlineHtml(std::string_view text) : m_text(text) {}

  std::string html() {
    while (m_at < m_text.size()) {
      if (!takeCode() && !takeLink() && !takePair("**", "strong") && !takePair("*", "em")) {
        m_out += escapedMarkup(m_text.substr(m_at, 1));
        ++m_at;
      }
    }
    return std::move(m_out);
  }

 private:
  std::string_view rest() const { return m_text.substr(m_at); }

  bool takeCode() {
    if (!rest().starts_with('`')) return false;
    const std::size_t end = m_text.find('`', m_at + 1);
    if (end == std::string_view::npos) return false;
    m_out += "<code>" + escapedMarkup(m_text.substr(m_at + 1, end - m_at - 1)) + "</code>";
    m_at = end + 1;
    return true;
  }

  bool takeLink() {
    if (!rest().starts_with('[')) return false;
    const std::size_t middle = m_text.find("](", m_at);
    if (middle == std::string_view::npos) return false;
    const std::size_t end = m_text.find(')', middle);
    if (end == std::string_view::npos) return false;
    const std::string words = InlineHtml(m_text.substr(m_at + 1, middle - m_at - 1)).html();
    const std::string_view where = m_text.substr(middle + 2, end - middle - 2);
    if (where.starts_with("https://"))
      m_out += "<a href=\"" + escapedMarkup(where) + "\">" + words + "</a>";
    else
      m_out += "<em class=\"part\">" + words + "</em>";
    m_at = end + 1;
    return true;
  }

  bool takePair(std::string_view mark, std::string_view tag) {
    if (!rest().starts_with(mark)) return false;
    const std::size_t begin = m_at + mark.size();
    const std::size_t end = m_text.find(mark, begin);
    if (end == std::string_view::npos || end == begin || m_text[begin] == ' ') return false;
    const std::string inside = InlineHtml(m_text.substr(begin, end - begin)).html();
    m_out += "<" + std::string(tag) + ">" + inside + "</" + std::string(tag) + ">";
    m_at = end + mark.size();
    return true;
  }

  std::string_view m_text;
  std::size_t m_at = 0;
  std::string m_out;
};

enum class LineKind { Text, Blank, Bullet, Numbered, Fence };

LineKind kindOf(std::string_view line) {
  if (line.find_first_not_of(" \t") == std::string_view::npos) return LineKind::Blank;
  if (line.starts_with("```")) return LineKind::Fence;
  if (line.starts_with("- ")) return LineKind::Bullet;
  const std::size_t dot = line.find_first_not_of("0123456789");
  if (dot != std::string_view::npos && dot > 0 && line.substr(dot).starts_with(". "))
    return LineKind::Numbered;
  return LineKind::Text;
}

class BlockHtml {
 public:
  std::string html(std::string_view markdown) {
    std::size_t begin = 0;
    while (begin <= markdown.size()) {
      const std::size_t end = std::min(markdown.find('\n', begin), markdown.size());
      take(markdown.substr(begin, end - begin));
      begin = end + 1;
    }
    if (m_isCode) m_out += "</code></pre>\n";
    close();
    return std::move(m_out);
  }

 private:
  void take(std::string_view line) {
    const LineKind kind = kindOf(line);
    if (m_isCode) {
      m_out += kind == LineKind::Fence ? "</code></pre>\n" : escapedMarkup(line) + "\n";
      m_isCode = kind != LineKind::Fence;
      return;
    }
    switch (kind) {
      case LineKind::Fence:
        close();
        m_out += "<pre><code>";
        m_isCode = true;
        break;
      case LineKind::Blank:
        close();
        break;
      case LineKind::Bullet:
      case LineKind::Numbered:
        if (m_list != kind) close();
        endEntry();
        m_list = kind;
        m_text = line.substr(line.find(' ') + 1);
        break;
      case LineKind::Text:
        if (!m_text.empty()) m_text += '\n';
        m_text += line;
        break;
    }
  }

  /// Ends the entry of a list that goes on.
  void endEntry() {
    if (m_text.empty()) return;
    if (m_entries == 0) m_out += m_list == LineKind::Bullet ? "<ul>\n" : "<ol>\n";
    ++m_entries;
    m_out += "<li>" + InlineHtml(m_text).html() + "</li>\n";
    m_text.clear();
  }

  void close() {
    if (m_list != LineKind::Text) {
      endEntry();
      if (m_entries > 0) m_out += m_list == LineKind::Bullet ? "</ul>\n" : "</ol>\n";
      m_entries = 0;
      m_list = LineKind::Text;
    } else if (!m_text.empty()) {
      m_out += "<p>" + InlineHtml(m_text).html() + "</p>\n";
      m_text.clear();
    }
  }

  std::string m_out;
  std::string m_text;  ///< of the paragraph or entry that goes on
  LineKind m_list = LineKind::Text;
  std::size_t m_entries = 0;  ///< of the list that goes on
  bool m_isCode = false;
};

}  // namespace

std::string htmlOf(std::string_view markdown) {
  return BlockHtml().html(markdown);
}

}  // namespace spanscope::lesson
