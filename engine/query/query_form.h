// SPDX-License-Identifier: GPL-3.0-or-later
// The written forms of a query, as one.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/surroundings.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

enum class QueryForm { Json, Yaml, Lisp };

/// The form of a file: by the end of its name (.json, .yaml, .yml, .lisp, .spnl; case counts nothing), else
/// by how the text begins. "(" and ";" begin Lisp, "---", "#", "- " and a word with a colon begin YAML,
/// everything else is taken for JSON.
QueryForm queryFormOf(std::string_view fileName, std::string_view text);

/// "JSON", "YAML", "Lisp".
const char* queryFormName(QueryForm form);

/// Reads a query in that form. The surroundings are asked only for what the Lisp form needs while it is read.
ParseResult parseQuery(std::string_view text, QueryForm form, const ParseLimits& limits = {},
                       Surroundings* surroundings = nullptr);

/// The query as a document in that form, with a line break at its end: writePretty(), writeYaml() or
/// writeLisp().
std::string writeQuery(const Node& node, QueryForm form);

/// Warnings of what IBM/spnl would not read from that form as it was meant.
std::vector<Diagnostic> formRemarks(const Node& node, QueryForm form);

}  // namespace spanscope::query
