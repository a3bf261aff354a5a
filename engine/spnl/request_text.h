// SPDX-License-Identifier: GPL-3.0-or-later
// Writes shell commands and programs that send a request to the query endpoint of a server with span support.
// Open this file to change these texts.
//
// The server is vLLM with the span patch, as IBM/spnl uses it. The request is POST
// /v1/query/execute?stream=…, content type text/plain. Its body is one `repeat` or `map` whose prompt
// contains only messages and joins. Names of models have no provider "spnl/".
#pragma once

#include "engine/query/node_parts.h"
#include "engine/query/query.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::spnl {

inline constexpr char kDefaultEndpoint[] = "http://localhost:8000/v1/query/execute";

/// Makes the request for a query: the generate, repeat or map at its root. Models lose "spnl/", and a single
/// generate becomes a repeat of one. Another root does not change, and the server refuses it.
query::Node requestFor(const query::Node& query);

/// Whether the request asks for only one token. SPNL then asks for the answer in one piece.
bool wantsOneToken(const query::Node& request);

/// Returns the text as one word of a POSIX shell, byte for byte. The text must not contain NUL, which a shell
/// cannot pass.
std::string shellQuoted(std::string_view text);
/// Returns the text, which must be UTF-8, as a Python 3 string literal.
std::string pythonLiteral(std::string_view text);

/// The max size of a body in the command line. Linux refuses words of more than 128 KiB. A larger body is
/// written as a here-document.
inline constexpr std::size_t kMaxCurlWord = 100'000;

/// Returns a command for a POSIX shell. It ends with a line break.
std::string curlLine(std::string_view body, std::string_view endpoint, bool stream);
/// Returns a program that uses the package requests. It ends with a line break.
std::string pythonProgram(std::string_view body, std::string_view endpoint, bool stream);

/// Calls `change` with the settings of every generate, repeat and map.
template <class Change>
void changeSettings(query::Node& query, const Change& change) {
  query::walk(query, {}, [&](query::Node& node, const NodePath& /*path*/) {
    if (query::GenerateSettings* settings = query::settingsOf(node)) change(*settings);
  });
}

}  // namespace spanscope::spnl
