// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::lesson {

/// Markdown with lines of at most `columns` characters, where words allow it: figures that took the place of
/// their names left lines of any length. Paragraphs and items of lists are filled anew; code, tables,
/// headings and quotations stay as they are, and so does a line that ends in two blanks or a backslash (a
/// forced break).
std::string wrapped(std::string_view markdown, std::size_t columns);

}  // namespace spanscope::lesson
