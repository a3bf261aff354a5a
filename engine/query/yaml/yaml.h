// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes queries as YAML: the same tree as in JSON. IBM/spnl's command line reads this notation
// too. Open this file when a YAML query differs from its JSON.
#pragma once

#include "engine/query/diagnostic.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Max size in bytes of a YAML text. Reading YAML takes several times the memory and time of JSON.
inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;

/// Reads the first document of a YAML text of at most kMaxYamlBytes, by the rules and limits of parseJson().
/// - Aliases are errors.
/// - Tags except !!str change nothing. A tag without a JSON value, such as `!!binary`, gives a warning.
/// - Numbers, true, false and null without quotes are not texts.
/// - A scalar in quotes is text. Where a number is expected, a scalar in quotes may be a number.
///
/// In `sources`, the range of a node may include the brackets and comments that follow the node.
ParseResult parseYaml(std::string_view text, const ParseLimits& limits = {});

/// Writes the query as YAML in block style. Reading the text gives an equal tree. The text ends with a line
/// break.
std::string writeYaml(const Node& node);

/// Warns about parts that IBM/spnl's YAML reader reads differently. The pointers refer to the canonical form.
/// The warnings have no positions. Two kinds of parts get a warning:
/// - texts that look like a number, null, true or false. IBM/spnl refuses these texts, even in quotes.
/// - older forms and parameters. IBM/spnl does not know these forms and parameters.
std::vector<Diagnostic> yamlRemarks(const Node& node);

}  // namespace spanscope::query
