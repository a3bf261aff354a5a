// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/man_page.h"

#include "engine/base/utf8.h"

#include <algorithm>
#include <cstddef>

namespace spanscope {
namespace {

/// Escapes characters with a meaning in roff, and characters that roff prints differently.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Returns one line of a page. The line is never a roff request.
std::string line(std::string_view text) {
  const bool looksLikeRequest = text.starts_with('.');
  return (looksLikeRequest ? "\\&" : "") + escaped(text) + "\n";
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

/// Returns the lines without leading spaces. An empty line between other lines separates paragraphs.
std::string paragraphs(std::string_view text, std::string_view parting) {
  std::string out;
  bool isParted = false;
  for (std::string_view one : splitAt(text, '\n')) {
    one.remove_prefix(std::min(one.find_first_not_of(' '), one.size()));
    if (one.empty()) {
      isParted = !out.empty();
      continue;
    }
    if (isParted) out += parting;
    isParted = false;
    out += line(one);
  }
  return out;
}

std::string inCapitals(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return out;
}

}  // namespace

ManPage::ManPage(std::string_view name, std::string_view summary, std::string_view version) {
  // The page has no date, so equal sources give equal pages. Lines are not justified and words are not
  // hyphenated, so that the reader can copy commands.
  m_text = ".\\\" SPDX-License-Identifier: GPL-3.0-or-later\n.TH \"" + escaped(inCapitals(name)) +
           "\" 1 \"\" \"Spanscope " + escaped(version) + "\" \"Spanscope\"\n.ad l\n.nh\n";
  heading("NAME");
  m_text += escaped(name) + " \\- " + escaped(summary) + "\n";
}

void ManPage::heading(std::string_view title) {
  m_text += ".SH \"" + escaped(title) + "\"\n";
}

void ManPage::subheading(std::string_view title) {
  m_text += ".SS \"" + escaped(title) + "\"\n";
}

void ManPage::paragraph(std::string_view text) {
  m_text += ".PP\n" + paragraphs(text, ".PP\n");
}

void ManPage::usage(std::string_view name, std::string_view rest) {
  m_text += ".PP\n" + bold(name) + (rest.empty() ? "" : " ") + escaped(rest) + "\n";
}

void ManPage::option(const ManOption& option) {
  m_text += ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i) m_text += (i > 0 ? ", " : "") + bold(option.names[i]);
  if (!option.value.empty()) m_text += " " + italic(option.value);
  m_text += "\n" + paragraphs(option.help, ".sp\n");
}

void ManPage::entry(std::string_view word, std::string_view text) {
  m_text += ".TP\n" + bold(word) + "\n" + paragraphs(text, ".sp\n");
}

void ManPage::lines(std::string_view text) {
  m_text += ".PP\n.RS 4\n.nf\n";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    m_text += line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  m_text += ".fi\n.RE\n";
}

void ManPage::seeAlso(const std::vector<std::string>& names) {
  heading("SEE ALSO");
  for (std::size_t i = 0; i < names.size(); ++i)
    m_text += bold(names[i]) + "(1)" + (i + 1 < names.size() ? "," : "") + "\n";
}

}  // namespace spanscope
