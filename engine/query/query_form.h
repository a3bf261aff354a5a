// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes a query in any of its forms: JSON, YAML, Lisp. Also finds the parts of a written query
// that the query's tree does not contain. Open this file to add a form, or when saving a query loses
// something without a warning.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/surroundings.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

enum class QueryForm { Json, Yaml, Lisp };

/// Returns the form of a file. The file extension decides: .json, .yaml, .yml, .lisp or .spnl, in capital or
/// small letters. For other extensions, the beginning of the text decides.
/// - "(" and ";" begin Lisp.
/// - "---", "#", "- " and a word with a colon begin YAML.
/// - Everything else is JSON.
QueryForm queryFormOf(std::string_view fileName, std::string_view text);

/// Returns "JSON", "YAML" or "Lisp".
const char* queryFormName(QueryForm form);

/// Reads a query in this form. Only the Lisp reader gets files and answers from `surroundings`.
ParseResult parseQuery(std::string_view text, QueryForm form, const ParseLimits& limits = {},
                       Surroundings* surroundings = nullptr);

/// Returns the query as a document in this form, by writePretty(), writeYaml() or writeLisp(). The document
/// ends with a line break.
std::string writeQuery(const Node& node, QueryForm form);

/// Warns about parts that IBM/spnl would read differently in this form.
std::vector<Diagnostic> formRemarks(const Node& node, QueryForm form);

/// Warns about text that the readers skip and writeQuery() cannot write. Such text changes no query: comments
/// and anchors in YAML, comments and evaluated forms in Lisp. Each kind has one warning, at its first place.
/// `text` must be a valid query in this form. For other texts the result is incomplete.
std::vector<Diagnostic> unkeptParts(std::string_view text, QueryForm form);

}  // namespace spanscope::query
