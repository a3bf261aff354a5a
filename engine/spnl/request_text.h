// SPDX-License-Identifier: GPL-3.0-or-later
// The texts that send a request to the query endpoint of a span server: a line for the shell, a program.
//
// The server is vLLM with the span patch, as IBM/spnl drives it: POST /v1/query/execute?stream=…, content
// type text/plain. Its body is one `repeat` or `map` whose prompt holds messages and joins only, and its
// models are named without the provider "spnl/".
#pragma once

#include "engine/query/query.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace spanscope::spnl {

inline constexpr char kDefaultEndpoint[] = "http://localhost:8000/v1/query/execute";

/// The request for a query: the generate, repeat or map at its root, models without "spnl/", a single
/// generate as a repeat of one. Another root stays as it is (the server refuses it).
query::Node requestFor(const query::Node& query);

/// Whether the request asks for one token only: SPNL then asks for the reply in one piece.
bool wantsOneToken(const query::Node& request);

/// One word of a POSIX shell that is the text, byte for byte. The text holds no NUL (a shell cannot pass
/// one).
std::string shellQuoted(std::string_view text);
/// A Python 3 string literal of the text, which is UTF-8.
std::string pythonLiteral(std::string_view text);

/// The longest body that stands in the command line itself; Linux refuses words of more than 128 KiB, so a
/// longer one comes from a here-document.
inline constexpr std::size_t kMaxCurlWord = 100'000;

/// For a POSIX shell, ends with a line break.
std::string curlLine(std::string_view body, std::string_view endpoint, bool stream);
/// With the package requests, ends with a line break.
std::string pythonProgram(std::string_view body, std::string_view endpoint, bool stream);

}  // namespace spanscope::spnl
