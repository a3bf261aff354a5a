// SPDX-License-Identifier: GPL-3.0-or-later
// The forms of a Lisp text, before they mean anything.
#pragma once

#include "engine/query/source_map.h"
#include "engine/query/value_cursor.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::query {

enum class LispFormKind : std::uint8_t {
  List,
  Text,    ///< "in double quotes", with the escapes of Rust
  Number,  ///< 12, -0.5, 1e3, 0x10
  Symbol,  ///< any other word
};

struct LispForm {
  LispFormKind kind = LispFormKind::List;
  std::string text;                ///< of a text without quotes and escapes, of a number as JSON writes it
  std::vector<LispForm> children;  ///< of a list
  SourceRange range;
};

struct LispFormLimits {
  std::size_t maxDepth = 0;  ///< of lists within each other
  std::size_t maxForms = 0;  ///< of all kinds
};

/// Reads the one form of a text, or says what is wrong with it: all wrong escapes, and at most one mistake
/// that leaves in doubt how to go on. Comments begin with ; and end with the line.
std::variant<LispForm, std::vector<JsonIssue>> readLispForm(std::string_view text,
                                                            const LispFormLimits& limits);

}  // namespace spanscope::query
