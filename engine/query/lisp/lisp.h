// SPDX-License-Identifier: GPL-3.0-or-later
// Queries in the Lisp form of IBM/spnl's docs/lisp.md. There the form is a macro of Rust, which is evaluated
// when the program is built or starts. Here the same is evaluated when the text is read:
//
//   (user s) (system s) (print s) (seq q…) (par q…) (cross q…) (plus q…)
//   (g model input [temperature [max_tokens]])            0.0 and 0 when left out, unlike in JSON
//   (repeat n model input [temperature [max_tokens]])
//   (extract model n q) (combine model q) (with embedding_model question documents)
//   (file path) (fetch path) (filen path) (fetchn path) (fetchb path)
//   (list v…) (take n list) (prefix s list) (chunk n list (lambda (name) q)) (foreach name start n q)
//   (format s v…) (length list)
//
// Nodes that the macro does not have:
//
//   (assistant s) (ask s) (monad q) (zip q q) (augment embedding_model q document)
//   (map model list [temperature [max_tokens]]) (doc name s) (doc name (bytes n…)) none
//
// Older texts of IBM/spnl, also its built-in files, use some forms that are read with a warning:
//
//   (g model input max_tokens temperature [#f])    recognized by the flag, by a {name} without quotes, or by
//                                                  numbers that only this order allows: whole, then not whole
//   (repeat n (g …)) (read s)                      a count n may be {name} without quotes
//
// In the place of a query, a text is a user message. Within seq, par, cross and plus, a list of queries
// stands for its elements. In the place of a query, (ask …) and (file …) stay as they are. In the place of a
// text, the question is asked and the file is read.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/surroundings.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Most bytes in a Lisp text.
inline constexpr std::size_t kMaxLispBytes = std::size_t{16} << 20U;
/// Most forms in a Lisp text, and most steps of its evaluation. A step is one evaluated form, one copied
/// element or one copied kilobyte.
inline constexpr std::size_t kMaxLispSteps = 4'000'000;

/// Reads and evaluates a query. A byte order mark at the beginning is skipped. The limits apply to the
/// resulting query; `maxBytes` applies also to all texts that the evaluation makes. Lists may be nested as
/// deep as containers of JSON. Errors point at the form and have no pointer. Without surroundings, texts from
/// outside are errors.
ParseResult parseLisp(std::string_view text, const ParseLimits& limits = {},
                      Surroundings* surroundings = nullptr);

/// The query as Lisp, on indented lines. Reading the text gives the same query with the defaults filled in,
/// as with writeCanonical(). The text ends with a line break.
std::string writeLisp(const Node& node);

/// Warns about nodes that Spanscope writes and reads in Lisp, but the macro does not know. The pointers refer
/// to the canonical form; there are no positions.
std::vector<Diagnostic> lispRemarks(const Node& node);

}  // namespace spanscope::query
