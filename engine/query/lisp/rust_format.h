// SPDX-License-Identifier: GPL-3.0-or-later
// Writes texts as Rust does; `format` and `prefix` of the Lisp form need this.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace spanscope::query {

/// The text in quotes with escapes, as {:?} writes it. Of the characters that are not printable, it escapes
/// control characters, other spaces, format characters and private use. Combining marks and characters that
/// Unicode has not assigned are not escaped.
std::string rustDebugText(std::string_view text);

/// A JSON number as {} writes it (1.0 as "1", 1e3 as "1000"); if `debug`, as {:?} does.
std::string rustNumber(std::string_view number, bool debug);

/// One {…} in a format.
struct RustPlaceholder {
  std::variant<std::size_t, std::string> argument;  ///< its index or its name
  bool debug = false;                               ///< {:?}
};

/// Fills in a format. {{ and }} are braces. It calls `show` for each placeholder in turn. Returns nothing if
/// the format is not well-formed or `show` returned nothing. If the format is at fault, `wrong` says why.
std::optional<std::string> rustFormat(
    std::string_view format, const std::function<std::optional<std::string>(const RustPlaceholder&)>& show,
    std::string& wrong);

}  // namespace spanscope::query
