// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes queries in the Lisp form of IBM/spnl's docs/lisp.md. Open this file for the list of forms.
// In IBM/spnl this form is a macro of Rust, evaluated at build time or at program start. Spanscope evaluates
// the form when it reads the text:
//
//    (user s) (system s) (print s) (seq q…) (par q…) (cross q…) (plus q…)
//
//    (g model input [temperature [max_tokens]])            0.0 and 0 when left out, unlike in JSON
//
//    (repeat n model input [temperature [max_tokens]])
//    (extract model n q) (combine model q) (with embedding_model question documents)
//
//    (file path) (fetch path) (filen path) (fetchn path) (fetchb path)
//
//    (list v…) (take n list) (prefix s list) (length list)
//
//    (chunk n list (lambda (name) q)) (foreach name start n q) (format s v…)
//
// Nodes that the macro does not have:
//
//    (assistant s) (ask s) (monad q) (zip q q) (augment embedding_model q document)
//
//    (map model list [temperature [max_tokens]]) (doc name s) (doc name (bytes n…)) none
//
// Older texts of IBM/spnl, and its built-in files, use older forms. The reader accepts these forms with a
// warning:
//
//    (g model input max_tokens temperature [#f])
//    (repeat n (g …)) (read s)
//
// One of these marks shows the older order of a (g …):
// - the flag;
// - a {name} without quotes;
// - a whole number followed by a number that is not whole.
//
// A count n of a repeat may be {name} without quotes.
//
// A text where a query is expected becomes a user message. In seq, par, cross and plus, a list of queries is
// replaced by its elements. Where a query is expected, (ask …) and (file …) stay nodes. Where a text is
// expected, the question is asked and the file is read.
// Splits a Lisp text into forms, without evaluating them. Open this file when the syntax of Lisp is read
// wrongly.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query_walk.h"
#include "engine/query/surroundings.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::query {

/// Max size in bytes of a Lisp text.
inline constexpr std::size_t kMaxLispBytes = std::size_t{16} << 20U;
/// Max number of forms in a Lisp text, and max number of steps of its evaluation. A step is one evaluated
/// form, one copied element or one copied kilobyte.
inline constexpr std::size_t kMaxLispSteps = 4'000'000;

/// Reads and evaluates a query. Skips a byte order mark at the beginning. The limits apply to the resulting
/// query. `maxBytes` applies also to all texts that the evaluation makes. Lists may be as deep as containers
/// of JSON. Errors point at the form and have no JSON pointer. Without surroundings, texts from outside are
/// errors.
ParseResult parseLisp(std::string_view text, const ParseLimits& limits = {},
                      Surroundings* surroundings = nullptr);

/// Writes the query as Lisp, on indented lines. Reading the text gives the same query with the defaults
/// filled in, as with writeCanonical(). The text ends with a line break.
std::string writeLisp(const Node& node);

/// Warns about nodes that Spanscope writes and reads in Lisp, but IBM/spnl's macro does not know. The
/// pointers refer to the canonical form. There are no positions.
std::vector<Diagnostic> lispRemarks(const Node& node);

enum class LispFormKind : std::uint8_t {
  List,
  Text,    ///< "in double quotes", with the escapes of Rust
  Number,  ///< 12, -0.5, 1e3, 0x10
  Symbol,  ///< any other word
};

struct LispForm {
  LispFormKind kind = LispFormKind::List;
  std::string text;  ///< for a text: without quotes and escapes; for a number: as JSON writes it
  std::vector<LispForm> children;  ///< for a list
  SourceRange range;
};

struct LispFormLimits {
  std::size_t maxDepth = 0;  ///< nesting of lists
  std::size_t maxForms = 0;  ///< number of forms of all kinds
};

/// Reads the only form of a text, or reports its errors. Reports all wrong escapes, and the first error after
/// which the reader cannot continue. Comments go from ; to the end of the line.
std::variant<LispForm, std::vector<JsonIssue>> readLispForm(std::string_view text,
                                                            const LispFormLimits& limits);

}  // namespace spanscope::query
