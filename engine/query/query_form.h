// SPDX-License-Identifier: GPL-3.0-or-later
// Treats the written forms of a query alike.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/surroundings.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

enum class QueryForm { Json, Yaml, Lisp };

/// The form of a file. The end of its name decides (.json, .yaml, .yml, .lisp, .spnl; case does not matter),
/// else the beginning of the text: "(" and ";" begin Lisp; "---", "#", "- " and a word with a colon begin
/// YAML; everything else is JSON.
QueryForm queryFormOf(std::string_view fileName, std::string_view text);

/// "JSON", "YAML", "Lisp".
const char* queryFormName(QueryForm form);

/// Reads a query in this form. Only the Lisp form asks the surroundings while it is read.
ParseResult parseQuery(std::string_view text, QueryForm form, const ParseLimits& limits = {},
                       Surroundings* surroundings = nullptr);

/// The query as a document in this form: writePretty(), writeYaml() or writeLisp(). It ends with a line
/// break.
std::string writeQuery(const Node& node, QueryForm form);

/// Warnings about parts that IBM/spnl would read differently in this form.
std::vector<Diagnostic> formRemarks(const Node& node, QueryForm form);

}  // namespace spanscope::query
