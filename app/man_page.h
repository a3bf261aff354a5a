// SPDX-License-Identifier: GPL-3.0-or-later
// Man pages in roff. spanq and spanscope write their own pages from the same values as the help. Open this
// file to change the form of the pages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanscope {

/// An option or an argument on a page.
struct ManOption {
  std::vector<std::string> names;  ///< with the dashes; for an argument only the name
  std::string value;               ///< what follows the names, "FILE"; may be empty
  std::string help;
};

/// Builds a page. All texts are plain text: characters with a meaning in roff are escaped.
class ManPage {
 public:
  /// `name` is the name of the page, "spanq-run". `summary` follows the name in lists of pages, on one line.
  /// `version` is the version of the program.
  ManPage(std::string_view name, std::string_view summary, std::string_view version);

  void heading(std::string_view title);
  void subheading(std::string_view title);
  /// Adds text. An empty line begins a new paragraph.
  void paragraph(std::string_view text);
  /// Adds a line that shows how to call the program: `name`, the program or a command, in bold, then `rest`.
  void usage(std::string_view name, std::string_view rest);
  void option(const ManOption& option);
  /// Adds a word and its meaning.
  void entry(std::string_view word, std::string_view text);
  /// Adds lines without filling.
  void lines(std::string_view text);
  /// Adds references to other pages by their names: "spanq-run".
  void seeAlso(const std::vector<std::string>& names);

  const std::string& text() const { return m_text; }

 private:
  std::string m_text;
};

}  // namespace spanscope
