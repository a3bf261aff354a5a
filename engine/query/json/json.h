// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes queries as JSON, the form in which programs store and send queries. Open this file to
// change which JSON is accepted or how it is written.
//
// The reader accepts everything that IBM/spnl 0.22 reads. The reader also accepts:
// - `{"ask": text}` and `{"file": path}`;
// - `{"repeat": {"n": 4, "query": {"g": {...}}}}`;
// - a parameter such as "{n}" instead of a number;
// - a byte order mark at the beginning;
// - with a warning, a document of chat messages or a chat-completions request in OpenAI's notation.
#pragma once

#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Reads a query. The result has all errors of the document, up to the first syntax error. A text that is not
/// UTF-8 is an error of the document. Throws only if memory is short.
ParseResult parseJson(std::string_view text, const ParseLimits& limits = {});

/// Writes the query on one line, byte for byte like IBM/spnl. The text has no white space, all defaults and
/// only the necessary escapes. Two values differ, because IBM/spnl would read its own text as another query:
/// - A max_tokens or temperature of null is written as null. IBM/spnl leaves out the null, and reads the
///   default.
/// - An infinite temperature is written as 1e+39. IBM/spnl writes null.
///
/// Reading the text gives the same query with the defaults filled in. Trees of more than kMaxDepth containers
/// can be written but not read. Texts that are not UTF-8 can also be written but not read.
std::string writeCanonical(const Node& node);

/// Writes the query on indented lines, for documents. Reading the text gives an equal tree. Absent values
/// stay absent, and null stays null. The text ends with a line break.
std::string writePretty(const Node& node);

/// Writes the query on one line, byte for byte as IBM/spnl writes a query that it has read. Unlike the text
/// of writeCanonical(), this text may mean another query. A max_tokens or temperature of null is left out and
/// reads as the default. An infinite temperature becomes null.
std::string writeAsReference(const Node& node);

/// Returns the elements of a JSON list of texts. Returns nothing if `json` is no such list.
std::optional<std::vector<std::string>> readJsonTexts(std::string_view json);

/// Returns the text as JSON, in double quotes. Escapes only characters that JSON does not allow in quotes.
std::string jsonText(std::string_view text);

}  // namespace spanscope::query
