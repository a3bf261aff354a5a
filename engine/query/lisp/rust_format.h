// SPDX-License-Identifier: GPL-3.0-or-later
// Texts made as Rust makes them: what `format` and `prefix` of the Lisp form rely on.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace spanscope::query {

/// The text in quotes with escapes, as {:?} shows it. Of the characters that are not printed, control
/// characters, other spaces, format characters and private use are escaped; combining marks and what Unicode
/// has not assigned stand as they are.
std::string rustDebugText(std::string_view text);

/// A JSON number as {} shows it (1.0 as "1", 1e3 as "1000"), or as {:?} does.
std::string rustNumber(std::string_view number, bool debug);

/// One {…} of a format.
struct RustPlaceholder {
  std::variant<std::size_t, std::string> argument;  ///< its index, or a name
  bool debug = false;                               ///< {:?}
};

/// Fills in a format: {{ and }} are braces, `show` is asked for every placeholder in turn. Nothing if the
/// format is not well-formed or `show` returned nothing; `wrong` then says what was wrong, if it was the
/// format.
std::optional<std::string> rustFormat(
    std::string_view format, const std::function<std::optional<std::string>(const RustPlaceholder&)>& show,
    std::string& wrong);

}  // namespace spanscope::query
