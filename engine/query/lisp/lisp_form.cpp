// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/lisp/lisp_form.h"

#include "engine/base/utf8.h"
#include "engine/query/number_text.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace spanscope::query {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";

/// A number must contain a digit; ".inf" and similar texts are words here.
bool isNumber(std::string_view word) {
  return word.find_first_of("0123456789") != std::string_view::npos && isLooseNumber(word);
}

class Reader {
 public:
  Reader(std::string_view text, const LispFormLimits& limits) : m_text(text), m_limits(limits) {}

  std::vector<JsonIssue> issues;

  LispForm readAll() {
    LispForm form;
    m_offset = m_text.size() - withoutByteOrderMark(m_text).size();
    skipSpace();
    if (m_offset == m_text.size()) {
      fail({m_offset, "the end of the document", "a form, such as (user \"text\")", {}});
      return form;
    }
    readForm(form, 0);
    if (m_stopped) return form;
    skipSpace();
    if (m_offset < m_text.size()) {
      const bool isClosing = m_text[m_offset] == ')';
      fail({m_offset, isClosing ? "a ) that closes nothing" : "a second form", "one form",
            isClosing ? "" : "several queries stand in (seq …)"});
    }
    return form;
  }

 private:
  void fail(JsonIssue issue) {
    if (!m_stopped) issues.push_back(std::move(issue));
    m_stopped = true;
  }

  void skipSpace() {
    while (true) {
      m_offset = std::min(m_text.find_first_not_of(kSpace, m_offset), m_text.size());
      if (m_offset == m_text.size() || m_text[m_offset] != ';') return;
      m_offset = std::min(m_text.find('\n', m_offset), m_text.size());
    }
  }

  /// Call this only if the next character is neither white space nor the end.
  void readForm(LispForm& form, std::size_t depth) {
    if (++m_forms > m_limits.maxForms) {
      fail({m_offset, "one more form", "at most " + std::to_string(m_limits.maxForms), {}});
      return;
    }
    form.range.begin = m_offset;
    const char c = m_text[m_offset];
    if (c == '(') {
      readList(form, depth);
    } else if (c == '"') {
      readText(form);
    } else {
      readWord(form);
    }
    form.range.end = m_offset;
  }

  void readList(LispForm& form, std::size_t depth) {
    const std::size_t begin = m_offset;
    if (depth >= m_limits.maxDepth) {
      fail({m_offset,
            "one more list within " + std::to_string(depth) + " others",
            "at most " + std::to_string(m_limits.maxDepth) + " lists within each other",
            {}});
      return;
    }
    ++m_offset;
    while (!m_stopped) {
      skipSpace();
      if (m_offset == m_text.size()) {
        fail({begin, "a ( that is not closed", "a ) before the end of the document", {}});
      } else if (m_text[m_offset] == ')') {
        ++m_offset;
        return;
      } else {
        readForm(form.children.emplace_back(), depth + 1);
      }
    }
  }

  void readWord(LispForm& form) {
    const std::size_t end = std::min(m_text.find_first_of(" \t\r\n\f\v();\"", m_offset), m_text.size());
    if (end == m_offset) {
      fail({m_offset, "a ) that closes nothing", "a form", {}});
      return;
    }
    const std::string_view word = m_text.substr(m_offset, end - m_offset);
    m_offset = end;
    form.kind = isNumber(word) ? LispFormKind::Number : LispFormKind::Symbol;
    form.text = form.kind == LispFormKind::Number ? looseNumberAsJson(word) : std::string(word);
  }

  void readText(LispForm& form) {
    form.kind = LispFormKind::Text;
    const std::size_t begin = m_offset++;
    while (true) {
      const std::size_t next = std::min(m_text.find_first_of("\"\\", m_offset), m_text.size());
      form.text += m_text.substr(m_offset, next - m_offset);
      m_offset = next;
      if (next == m_text.size()) {
        fail({begin, "text that is not closed before the end of the document", "a closing double quote", {}});
        return;
      }
      if (m_text[next] == '"') {
        ++m_offset;
        return;
      }
      readEscape(form.text);
    }
  }

  /// Reads an escape of a Rust string.
  void readEscape(std::string& text) {
    constexpr std::string_view kNames = "\"'\\nrt0";
    constexpr std::string_view kValues{"\"'\\\n\r\t\0", 7};
    const std::size_t begin = m_offset++;
    const char name = m_offset < m_text.size() ? m_text[m_offset] : '\0';
    if (const std::size_t known = kNames.find(name);
        known != std::string_view::npos && m_offset < m_text.size()) {
      text += kValues[known];
      ++m_offset;
    } else if (name == '\n' || name == '\r') {
      // A backslash at the end of a line removes the line break and the indentation of the next line.
      m_offset = std::min(m_text.find_first_not_of(" \t\r\n", m_offset), m_text.size());
    } else if (name == 'x') {
      readCode(text, begin, m_text.substr(m_offset + 1, 2), 3, 0x7F);
    } else if (name == 'u' && m_text.substr(m_offset + 1).starts_with('{')) {
      const std::string_view rest = m_text.substr(m_offset + 2, 7);
      const std::size_t close = rest.find('}');
      const bool isClosed = close != std::string_view::npos;
      readCode(text, begin, isClosed ? rest.substr(0, close) : std::string_view(), isClosed ? close + 3 : 1,
               0x10FFFF);
    } else {
      issues.push_back({begin, "a backslash that begins no escape",
                        "one of \\\" \\' \\\\ \\n \\r \\t \\0 \\xXX \\u{XXXX}",
                        "a backslash itself is written \\\\"});
    }
  }

  void readCode(std::string& text, std::size_t begin, std::string_view digits, std::size_t length,
                unsigned most) {
    unsigned code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    const bool isSurrogate = code >= 0xD800 && code < 0xE000;
    m_offset += length;
    m_offset = std::min(m_offset, m_text.size());
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || code > most ||
        isSurrogate) {
      issues.push_back(
          {begin, "an escape that is no character", "\\x00 … \\x7f, or \\u{…} of a character", {}});
      m_offset = begin + 2;
      return;
    }
    appendUtf8(text, code);
  }

  std::string_view m_text;
  LispFormLimits m_limits;
  std::size_t m_offset = 0;
  std::size_t m_forms = 0;
  bool m_stopped = false;
};

}  // namespace

std::variant<LispForm, std::vector<JsonIssue>> readLispForm(std::string_view text,
                                                            const LispFormLimits& limits) {
  Reader reader(text, limits);
  LispForm form = reader.readAll();
  if (!reader.issues.empty()) return std::move(reader.issues);
  return form;
}

}  // namespace spanscope::query
