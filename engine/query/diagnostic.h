// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the error or warning about the text of a query: its place, the found text and the expected text.
// Open this file to change how diagnostics are worded or located.
#pragma once

#include "engine/base/error.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// A place in a text. Lines and columns count from 1. Columns count characters (code points). 0: there is no
/// text.
struct TextPosition {
  std::size_t line = 0;
  std::size_t column = 0;
  bool operator==(const TextPosition&) const = default;
};

struct Diagnostic {
  Severity severity = Severity::Error;
  /// JSON pointer (RFC 6901) into the document as it was written. "" is the whole document. Keys of more than
  /// 200 bytes are truncated.
  std::string pointer;
  TextPosition position;   ///< the place in the text
  std::size_t offset = 0;  ///< the same place, in bytes from 0
  std::string found;       ///< the text at this place, e.g. "the number 1.5"
  std::string expected;    ///< the text that belongs there, e.g. "a whole number from 0 to 255"
  std::string hint;        ///< how to correct the fault; may be empty

  /// Returns one sentence: "found X, expected Y; hint".
  std::string message() const;
  /// Returns one line, "file:line:column: pointer: message", without the unknown parts.
  std::string located(std::string_view file) const;

  bool operator==(const Diagnostic&) const = default;
};

/// Returns whether at least one diagnostic is an error.
bool hasErrors(const std::vector<Diagnostic>& diagnostics);

/// Returns the position of a byte of well-formed UTF-8 text. `offset` may be text.size().
TextPosition positionAt(std::string_view text, std::size_t offset);

/// Sets `position` from `offset` in all diagnostics. Reads the text once. The diagnostics must be ordered by
/// `offset`.
void locate(std::vector<Diagnostic>& diagnostics, std::string_view text);

/// Checks a text before its form is known: its size, and whether it is UTF-8. Returns nothing if both are
/// right.
std::optional<Diagnostic> refuseText(std::string_view text, std::size_t maxBytes);

/// Returns the text with line feeds if its lines end in carriage returns alone, as in files of old programs.
/// Returns nothing for other texts. Each byte keeps its place.
std::optional<std::string> withLineFeeds(std::string_view text);

}  // namespace spanscope::query
