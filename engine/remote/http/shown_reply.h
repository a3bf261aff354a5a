// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::remote {

/// Most characters of a reply that a message shows.
inline constexpr std::size_t kReplyCharacters = 200;

/// A part of a reply for a message: on one line, short, and valid UTF-8.
std::string shownReply(std::string_view text);

/// Most bytes of a server's key.
inline constexpr std::size_t kMostKeyBytes = 4096;

/// Why a key cannot be sent: a line break, a NUL or another control character, no UTF-8, too long. The error
/// has no file and does not show the key. Nothing: it can be sent.
std::optional<Error> problemOfKey(std::string_view key);

/// A text of a server without the key that it was sent; also where JSON writes a slash as "\\/". A key of
/// fewer than 4 bytes is no secret and stays.
std::string withoutKey(std::string_view text, std::string_view key);

}  // namespace spanscope::remote
