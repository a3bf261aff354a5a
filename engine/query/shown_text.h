// SPDX-License-Identifier: GPL-3.0-or-later
// Shortens texts from outside for messages and captions, and puts them on one line. Open this file to change
// how user text is quoted in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

/// Returns `text` on one line, with at most `characters` characters. Control characters become spaces. The
/// last character of a truncated text is an ellipsis.
std::string cutText(std::string_view text, std::size_t characters);

/// Returns the text in double quotes, truncated to 40 characters.
std::string inQuotes(std::string_view text);

}  // namespace spanscope::query
