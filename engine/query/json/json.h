// SPDX-License-Identifier: GPL-3.0-or-later
// Queries as JSON: the form in which they are stored and exchanged.
//
// The reader accepts everything that IBM/spnl 0.22 reads. It also accepts `{"ask": text}`, `{"file": path}`,
// `{"repeat": {"n": 4, "query": {"g": {...}}}}`, a parameter such as "{n}" in the place of a number, and a
// byte order mark in front. With a warning, it accepts a whole document of chat messages, or a
// chat-completions request, in OpenAI's notation.
#pragma once

#include "engine/query/parse_result.h"
#include "engine/query/query.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::query {

/// Reads a query. It finds all errors of the document at once; a syntax error ends the reading. If the text
/// is not UTF-8, that is an error of the document like others. Throws only if memory is short.
ParseResult parseJson(std::string_view text, const ParseLimits& limits = {});

/// The query on one line, byte for byte as the reference writes it: no white space, defaults written out,
/// only the necessary escapes. There are two exceptions, where the reference would read another query from
/// its own text. A max_tokens or temperature of null is written as null; the reference leaves it out, which
/// reads as the default. An infinite temperature is written as 1e+39; the reference writes null. Reading the
/// text gives the same query with the defaults filled in. Trees of more than kMaxDepth containers and texts
/// that are not UTF-8 can be written but not read.
std::string writeCanonical(const Node& node);

/// The query on indented lines, for documents. Reading the text gives an equal tree: absent values stay
/// absent, and null stays null. The text ends with a line break.
std::string writePretty(const Node& node);

/// The query on one line, byte for byte as the reference writes a query that it has read. Unlike
/// writeCanonical(), the text may mean another query: a max_tokens or temperature of null is left out, which
/// reads as the default, and an infinite temperature is null.
std::string writeAsReference(const Node& node);

/// The elements of a JSON list of texts; nothing if `json` is no such list.
std::optional<std::vector<std::string>> readJsonTexts(std::string_view json);

/// The text as JSON, in double quotes. Only what JSON cannot contain within quotes is escaped.
std::string jsonText(std::string_view text);

}  // namespace spanscope::query
