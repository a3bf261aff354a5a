// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as YAML: the same tree as in JSON, in the notation that IBM/spnl's command line reads too.
#pragma once

#include "engine/query/parse_result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Most bytes of a YAML text: reading it takes several times the memory and the time that JSON takes.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;

/// Reads the first document of a YAML text, under the rules and limits of parseJson(); at most kMaxYamlBytes.
/// Aliases are refused, tags are ignored but for !!str. A scalar without quotes that is a number, true, false
/// or null is no text. What stands in quotes is text; where a number belongs it may be a number. The end of a
/// node in `sources` may take in brackets and comments that follow it.
ParseResult parseYaml(std::string_view text, const ParseLimits& limits = {});

/// The query as YAML in block style. Reading the text gives an equal tree. Ends with a line break.
std::string writeYaml(const Node& node);

/// Warnings of what IBM/spnl's reader of YAML does not read as it was meant: texts that look like a number,
/// null, true or false (it takes them for that, in quotes as well, and refuses the query), and the older
/// forms and parameters, which it does not know. Pointers into the canonical form, no positions.
std::vector<Diagnostic> yamlRemarks(const Node& node);

}  // namespace spanscope::query
