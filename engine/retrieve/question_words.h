// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::retrieve {

/// An FTS5 expression that matches any row with a word of the text. It contains the first `count` different
/// words; it is empty if there is no word. Every word is a quoted string, so nothing in the text is an
/// operator.
std::string matchAnyWord(std::string_view text, std::size_t count);

}  // namespace spanscope::retrieve
