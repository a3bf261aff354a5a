// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::remote {

/// Most characters of a reply that a message shows.
inline constexpr std::size_t kReplyCharacters = 200;

/// A part of a reply for a message: on one line, short, and valid UTF-8.
std::string shownReply(std::string_view text);

}  // namespace spanscope::remote
