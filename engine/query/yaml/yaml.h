// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as YAML: the same tree as in JSON. IBM/spnl's command line reads this notation too.
#pragma once

#include "engine/query/parse_result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Most bytes of a YAML text. Reading YAML takes several times the memory and time of JSON.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;

/// Reads the first document of a YAML text, with the rules and limits of parseJson(), and at most
/// kMaxYamlBytes. Aliases are errors. Tags except !!str change nothing; a tag that JSON has no value for,
/// such as
/// !!binary, gives a warning. An unquoted number, true, false or null
/// is no text. A scalar in quotes is text; but in the place of a number it may be a number. In `sources`, the
/// end of a node may include brackets and comments that follow it.
ParseResult parseYaml(std::string_view text, const ParseLimits& limits = {});

/// The query as YAML in block style. Reading the text gives an equal tree. The text ends with a line break.
std::string writeYaml(const Node& node);

/// Warns about parts that IBM/spnl's YAML reader reads differently. Texts that look like a number, null, true
/// or false: it takes them for that, even in quotes, and refuses the query. Older forms and parameters: it
/// does not know them. The pointers refer to the canonical form; there are no positions.
std::vector<Diagnostic> yamlRemarks(const Node& node);

}  // namespace spanscope::query
