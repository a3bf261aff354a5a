// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as JSON: the form in which they are stored and exchanged.
//
// Read is what IBM/spnl 0.22 reads, and besides: `{"ask": text}`, `{"file": path}`,
// `{"repeat": {"n": 4, "query": {"g": {...}}}}`, and a parameter such as "{n}" where a number belongs; as a
// whole, with a warning, also chat messages and chat-completions requests in OpenAI's notation.
#pragma once

#include "engine/query/parse_result.h"

#include <string>
#include <string_view>

namespace spanscope::query {

/// Reads a query. All errors of the document are found in one go; a syntax error is the last of them. The
/// text need not be UTF-8 (that is an error of the document like others). Does not throw, but for want of
/// memory.
ParseResult parseJson(std::string_view text, const ParseLimits& limits = {});

/// The query on one line, byte for byte as the reference writes it: no white space, defaults written out,
/// characters escaped only where they must be. Two things differ, because the reference would read another
/// query from its own text: a max_tokens or temperature that is null is written null (it leaves it out, which
/// reads as the default), and an infinite temperature is written 1e+39 (it writes null). Reading the text
/// gives the same query with the defaults filled in. Trees of more than kMaxDepth containers and texts that
/// are not UTF-8 can be written but not read.
std::string writeCanonical(const Node& node);

/// The query on indented lines, for documents. Reading the text gives an equal tree: what was left out is
/// left out, what was null is null. Ends with a line break.
std::string writePretty(const Node& node);

}  // namespace spanscope::query
