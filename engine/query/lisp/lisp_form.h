// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a Lisp text into forms, without evaluating them. Open this file when the syntax of Lisp is read
// wrongly.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/query_walk.h"

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
  std::string text;  ///< for a text: without quotes and escapes; for a number: as JSON writes it
  std::vector<LispForm> children;  ///< for a list
  SourceRange range;
};

struct LispFormLimits {
  std::size_t maxDepth = 0;  ///< nesting of lists
  std::size_t maxForms = 0;  ///< number of forms of all kinds
};

/// Reads the only form of a text, or reports its errors. The errors are all wrong escapes, and the first
/// error after which the reader cannot continue. Comments go from ; to the end of the line.
std::variant<LispForm, std::vector<JsonIssue>> readLispForm(std::string_view text,
                                                            const LispFormLimits& limits);

}  // namespace spanscope::query
