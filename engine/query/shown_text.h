// SPDX-License-Identifier: GPL-3.0-or-later
// Prepares texts from outside for messages and captions: short, and on one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

/// `text` on one line (control characters become spaces), with at most `characters` characters. If the text
/// was cut, the last character is an ellipsis.
std::string cutText(std::string_view text, std::size_t characters);

/// The text in double quotes, cut to 40 characters.
std::string inQuotes(std::string_view text);

}  // namespace spanscope::query
