// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/outline.h"

namespace spanscope::plan {
namespace {

constexpr std::size_t kOutlineBytes = 400;
constexpr std::string_view kEllipsis = "…";

/// At most `limit` bytes, cut between characters.
std::string_view cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return text;
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

/// Writes an outline and stops when it is too long, so that a huge draft takes no longer than a small one.
class OutlineWriter {
 public:
  std::string write(const Draft& draft) {
    add(draft);
    if (m_text.size() <= kOutlineBytes) return std::move(m_text);
    return std::string(cut(m_text, kOutlineBytes)) + std::string(kEllipsis);
  }

 private:
  bool full() const { return m_text.size() > kOutlineBytes; }

  void add(const Draft& draft) {
    if (full()) return;
    if (draft.is<query::Generate>() && draft.form == OutputForm::Continuation) {
      m_text += "(";
      if (!givesNothing(draft.input())) {
        add(draft.input());
        m_text += ", ";
      }
      m_text += "reply)";
      return;
    }
    const query::OperatorShape& shape = draft.shape();
    m_text += draft.name();
    if (shape.hasCount) m_text += " " + std::to_string(draft.count);
    if (shape.hasInputs) m_text += " " + std::to_string(draft.inputs.size());
    if (shape.hasText || shape.hasInputs) return;
    addChildren(draft.children);
  }

  /// Equal neighbours are written once, with their number.
  void addChildren(const std::vector<Draft>& children) {
    m_text += "(";
    std::string last;
    std::size_t lastBegin = 0;
    std::size_t times = 0;
    for (const Draft& child : children) {
      if (full()) return;
      if (times > 0) m_text += ", ";
      const std::size_t textBegin = m_text.size();
      add(child);
      const std::string text = m_text.substr(textBegin);
      if (times > 0 && text == last && !full()) {
        ++times;
        m_text.resize(lastBegin + last.size());
        m_text += " ×" + std::to_string(times);
        continue;
      }
      last = text;
      lastBegin = textBegin;
      times = 1;
    }
    m_text += ")";
  }

  std::string m_text;
};

}  // namespace

std::string outline(const Draft& draft) {
  return OutlineWriter().write(draft);
}

std::string quoted(std::string_view text, std::size_t limit) {
  const std::string_view shown = cut(text, limit);
  std::string result = "\"";
  for (const char c : shown) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
      result += ' ';
    } else {
      result += c;
    }
  }
  if (shown.size() < text.size()) result += kEllipsis;
  return result + "\"";
}

}  // namespace spanscope::plan
