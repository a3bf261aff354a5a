// SPDX-License-Identifier: GPL-3.0-or-later
// Queries in the Lisp form of IBM/spnl's docs/lisp.md, there a macro of Rust. What the macro evaluates when
// the program is built or begins, is evaluated when the text is read:
//
//   (user s) (system s) (print s) (seq q…) (par q…) (cross q…) (plus q…)
//   (g model input [temperature [max_tokens]])            0.0 and 0 when left out, unlike in JSON
//   (repeat n model input [temperature [max_tokens]])
//   (extract model n q) (combine model q) (with embedding_model question documents)
//   (file path) (fetch path) (filen path) (fetchn path) (fetchb path)
//   (list v…) (take n list) (prefix s list) (chunk n list (lambda (name) q)) (foreach name start n q)
//   (format s v…) (length list)
//
// and, for what the tree has and the macro has not:
//
//   (assistant s) (ask s) (monad q) (zip q q) (augment embedding_model q document)
//   (map model list [temperature [max_tokens]]) (doc name s) (doc name (bytes n…)) none
//
// Read with a warning, because older texts of IBM/spnl have them, in its built-in files among others:
//
//   (g model input max_tokens temperature [#f])    told by the flag, by a {name} without quotes or by numbers
//                                                  that only this order takes: whole, then not whole
//   (repeat n (g …)) (read s)                      a count n may be {name} without quotes
//
// A text is a user message where a query belongs; a list of queries stands for its elements within seq, par,
// cross and plus. Where a query belongs, (ask …) and (file …) stay what they are; where a text belongs, the
// question is asked and the file is read.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/surroundings.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Most bytes of a Lisp text.
inline constexpr std::size_t kMaxLispBytes = std::size_t{16} << 20U;
/// Most forms of a Lisp text, and most steps its evaluation may take: one a form that is evaluated, one an
/// element or a kilobyte that is copied.
inline constexpr std::size_t kMaxLispSteps = 4'000'000;

/// Reads and evaluates a query; a byte order mark before it is passed. The limits hold for the query that
/// results, and `maxBytes` also for all texts that are made on the way; lists stand within each other at most
/// as deep as containers of JSON. Errors point at the form and have no pointer. Without surroundings, texts
/// from outside are errors.
ParseResult parseLisp(std::string_view text, const ParseLimits& limits = {},
                      Surroundings* surroundings = nullptr);

/// The query as Lisp, on indented lines. Reading the text gives the same query with the defaults filled in,
/// as with writeCanonical(). Ends with a line break.
std::string writeLisp(const Node& node);

/// Warnings of what the macro has no form for, although Spanscope reads it. Pointers into the canonical form,
/// no positions.
std::vector<Diagnostic> lispRemarks(const Node& node);

}  // namespace spanscope::query
