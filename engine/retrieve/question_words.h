// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::retrieve {

/// An FTS5 expression that matches what holds any word of a text; empty if there is no word. At most `count`
/// different words, the first ones. Every word is a quoted string, so nothing in the text is an operator.
std::string matchAnyWord(std::string_view text, std::size_t count);

}  // namespace spanscope::retrieve
