// SPDX-License-Identifier: GPL-3.0-or-later
// Prepares texts of servers for messages, without their keys. Open this file before you show a server's text.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::remote {

/// Max number of characters of a server's answer in a message.
inline constexpr std::size_t kReplyCharacters = 200;

/// Returns a section of an answer for a message: on one line, short, and valid UTF-8.
std::string shownReply(std::string_view text);

/// Max number of bytes of a server's key.
inline constexpr std::size_t kMostKeyBytes = 4096;

/// Returns the reason why a key cannot be sent. Examples are a control character such as a line break,
/// invalid UTF-8, or a key that is too long. The error has no file and does not contain the key. Nothing: the
/// key can be sent.
std::optional<Error> problemOfKey(std::string_view key);

/// Returns a text of a server without its key. It also finds keys in which JSON writes a slash as "\\/". A
/// key of fewer than 4 bytes is no secret and stays.
std::string withoutKey(std::string_view text, std::string_view key);

}  // namespace spanscope::remote
