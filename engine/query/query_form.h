// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes a query in any of its forms: JSON, YAML, Lisp. Open this file to add a form or to change
// how the form of a file is recognized.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/surroundings.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

enum class QueryForm { Json, Yaml, Lisp };

/// Returns the form of a file. The end of its name decides: .json, .yaml, .yml, .lisp, .spnl, in any case.
/// Otherwise the beginning of the text decides.
/// - "(" and ";" begin Lisp.
/// - "---", "#", "- " and a word with a colon begin YAML.
/// - Everything else is JSON.
QueryForm queryFormOf(std::string_view fileName, std::string_view text);

/// Returns "JSON", "YAML" or "Lisp".
const char* queryFormName(QueryForm form);

/// Reads a query in this form. Only the Lisp reader asks `surroundings` for files and answers.
ParseResult parseQuery(std::string_view text, QueryForm form, const ParseLimits& limits = {},
                       Surroundings* surroundings = nullptr);

/// Returns the query as a document in this form, by writePretty(), writeYaml() or writeLisp(). The document
/// ends with a line break.
std::string writeQuery(const Node& node, QueryForm form);

/// Warns about parts that IBM/spnl would read differently in this form.
std::vector<Diagnostic> formRemarks(const Node& node, QueryForm form);

}  // namespace spanscope::query
