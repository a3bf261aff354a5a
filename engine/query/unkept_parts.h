// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the parts of a written query that its tree does not hold.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query_form.h"

#include <string_view>
#include <vector>

namespace spanscope::query {

/// Warns about what the readers skip silently because it changes no query, but what writeQuery() cannot
/// write: comments and anchors in YAML, comments and evaluated forms in Lisp. Each kind has one warning, at
/// its first place. `text` is a valid query in this form; for other texts the result is incomplete.
std::vector<Diagnostic> unkeptParts(std::string_view text, QueryForm form);

}  // namespace spanscope::query
