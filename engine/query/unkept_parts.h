// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the parts of a written query that its tree does not contain. Open this file when saving a query loses
// something without a warning.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query_form.h"

#include <string_view>
#include <vector>

namespace spanscope::query {

/// Warns about text that the readers skip and writeQuery() cannot write. Such text changes no query: comments
/// and anchors in YAML, comments and evaluated forms in Lisp. Each kind has one warning, at its first place.
/// `text` must be a valid query in this form. For other texts the result is incomplete.
std::vector<Diagnostic> unkeptParts(std::string_view text, QueryForm form);

}  // namespace spanscope::query
