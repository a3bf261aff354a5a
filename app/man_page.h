// SPDX-License-Identifier: GPL-3.0-or-later
// Pages for man, in roff, which both programs write of themselves: what is installed is made from the values
// that their help is made from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spanscope {

/// An option or an argument as a page shows it.
struct ManOption {
  std::vector<std::string> names;  ///< with their dashes; of an argument its name alone
  std::string value;               ///< what stands behind the names, "FILE"; may be empty
  std::string help;
};

/// All texts are plain: what means something to roff comes out as it was given.
class ManPage {
 public:
  /// `name`: "spanq-run"; `summary`: what stands behind it in lists of pages, on one line; `version` of the
  /// program.
  ManPage(std::string_view name, std::string_view summary, std::string_view version);

  void heading(std::string_view title);
  void subheading(std::string_view title);
  /// An empty line begins another paragraph.
  void paragraph(std::string_view text);
  /// How the program is called: its name, or that of a command, bold, and the rest.
  void usage(std::string_view name, std::string_view rest);
  void option(const ManOption& option);
  /// A word and what it means.
  void entry(std::string_view word, std::string_view text);
  /// Lines as they stand.
  void lines(std::string_view text);
  /// Other pages, by the names that they are called with: "spanq-run".
  void seeAlso(const std::vector<std::string>& names);

  const std::string& text() const { return m_text; }

 private:
  std::string m_text;
};

}  // namespace spanscope
