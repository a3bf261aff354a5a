// SPDX-License-Identifier: GPL-3.0-or-later
// Texts from outside as messages and captions show them: short and on one line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::query {

/// `text` on one line (control characters become spaces), at most `characters` long with an ellipsis as the
/// last one where something was cut off.
std::string cutText(std::string_view text, std::size_t characters);

/// The text in double quotes, cut to 40 characters.
std::string inQuotes(std::string_view text);

}  // namespace spanscope::query
