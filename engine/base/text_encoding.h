// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope {

struct NarrowText {
  std::string text;  ///< UTF-8
  /// The byte of the first part that is no character, such as half of a pair; nothing: all are characters.
  std::optional<std::size_t> firstReplaced;
};

/// The text in UTF-8, without its byte order mark, if the bytes are UTF-16 or UTF-32. With a byte order mark,
/// each part that is no character becomes U+FFFD. Without a mark, the bytes must be well-formed as a whole,
/// with letters or spaces of ASCII among them, and without control characters: no other kind of text has such
/// zero bytes. Nothing if the bytes are anything else, such as UTF-8 or a mark alone.
std::optional<NarrowText> utf8OfWide(std::string_view bytes);

/// What a file is that is no text, by its first bytes, e.g. "a picture"; nullptr: it is not known.
const char* kindOfBytes(std::string_view bytes);

}  // namespace spanscope
