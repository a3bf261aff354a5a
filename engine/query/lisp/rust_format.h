// SPDX-License-Identifier: GPL-3.0-or-later
// Formats texts as Rust does. The Lisp forms `format` and `prefix` need this. Open this file when their text
// differs from IBM/spnl's.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace spanscope::query {

/// Returns the text in quotes with escapes, as {:?} writes it. Escapes control characters, spaces other than
/// " ", format characters and private use. Does not escape combining marks and unassigned characters of
/// Unicode.
std::string rustDebugText(std::string_view text);

/// Returns a JSON number as {} writes it (1.0 as "1", 1e3 as "1000"). With `debug`, as {:?} writes it.
std::string rustNumber(std::string_view number, bool debug);

/// One {…} in a format.
struct RustPlaceholder {
  std::variant<std::size_t, std::string> argument;  ///< its index or its name
  bool debug = false;                               ///< {:?}
};

/// Fills in a format. {{ and }} are braces. Calls `show` for each placeholder in turn. Returns nothing if the
/// format is not well-formed or `show` returned nothing. For a wrong format, `wrong` gets the reason.
std::optional<std::string> rustFormat(
    std::string_view format, const std::function<std::optional<std::string>(const RustPlaceholder&)>& show,
    std::string& wrong);

}  // namespace spanscope::query
