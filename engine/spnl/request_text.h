// SPDX-License-Identifier: GPL-3.0-or-later
// Writes shell commands and programs that send a request to the query endpoint of a server with span support.
// Open this file to change these texts.
//
// The server is vLLM with the span patch, which IBM/spnl uses. The request is POST
// /v1/query/execute?stream=…, content type text/plain. The body is one `repeat` or `map` whose prompt
// contains only messages and joins. Names of models have no provider "spnl/".
//
// This file also lists the bulk forms that the backends of IBM/spnl 0.22 support. The provider is the
// beginning of a model's name, before the first '/'. Open this file to add a backend.
//
// This file also splits a query into bulk calls for the endpoint of IBM/spnl 0.22, POST /v1/query/execute. A
// call is a generate, repeat or map node whose prompt contains only messages and joins. Open this file to
// change the rules for calls.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/node_parts.h"
#include "engine/query/query.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::spnl {

inline constexpr char kDefaultEndpoint[] = "http://localhost:8000/v1/query/execute";

/// Makes the request for a query whose root is a generate, repeat or map node. Models lose "spnl/", and a
/// generate node becomes a repeat of one. A query with another root does not change, and the server refuses
/// such a query.
query::Node requestFor(const query::Node& query);

/// Whether the request has a limit of one token. SPNL then requests the answer in one piece.
bool wantsOneToken(const query::Node& request);

/// Returns the text as one word of a POSIX shell, with the same bytes. The text must not contain NUL, which a
/// shell cannot pass.
std::string shellQuoted(std::string_view text);
/// Returns the text, which must be UTF-8, as a Python 3 string literal.
std::string pythonLiteral(std::string_view text);

/// The max size of a body in the command line. Linux refuses words of more than 128 KiB. A larger body is
/// written as a here-document.
inline constexpr std::size_t kMaxCurlWord = 100'000;

/// Returns a POST command for a POSIX shell. `headers` are words of the shell, such as 'Accept: text/plain'.
/// `endMark` is no line of the body. The command ends with a line break.
std::string curlCommand(std::string_view body, std::string_view url, const std::vector<std::string>& headers,
                        std::string_view endMark);
/// Returns the command that sends a query. The command ends with a line break.
std::string curlLine(std::string_view body, std::string_view endpoint, bool stream);
/// Returns a Python program that uses the package requests. The program ends with a line break.
std::string pythonProgram(std::string_view body, std::string_view endpoint, bool stream);

/// Calls `change` with the settings of every generate, repeat and map node.
template <class Change>
void changeSettings(query::Node& query, const Change& change) {
  query::walk(query, {}, [&](query::Node& node, const NodePath& /*path*/) {
    if (query::GenerateSettings* settings = query::settingsOf(node)) change(*settings);
  });
}

/// Whether the model's server reuses spans. The prompts of subqueries are distributed only then.
bool supportsSpans(std::string_view model);

/// Whether a `repeat` is sent unchanged. Otherwise the `repeat` is written out as a plus of generate nodes.
bool supportsBulkRepeat(std::string_view model);

/// Whether a `map` is sent unchanged. Otherwise the `map` is written out as a plus of generate nodes.
bool supportsBulkMap(std::string_view model);

// Names of models in SPNL's form: "provider/name", e.g. "spnl/ibm-granite/granite-3.3-8b-instruct".

/// The provider of servers with span support.
inline constexpr std::string_view kSpanProvider = "spnl";

/// Returns the part before the first '/', or an empty text.
inline std::string_view providerOf(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? std::string_view() : model.substr(0, slash);
}

/// Returns the part after the first '/', or the whole name.
inline std::string_view nameWithoutProvider(std::string_view model) {
  const std::size_t slash = model.find('/');
  return slash == std::string_view::npos ? model : model.substr(slash + 1);
}

/// Whether the server's endpoint accepts the query as a body.
bool isServerBody(const query::Node& query);

struct ServerBody {
  NodePath node;     ///< the origin of the body: a generate, repeat or map node
  query::Node body;  ///< isServerBody() returns true for this node
};

/// A generate, repeat or map node that cannot be sent yet.
struct Withheld {
  NodePath node;
  std::string reason;  ///< one sentence
};

struct ServerBodies {
  std::vector<ServerBody> bodies;  ///< in sending order
  std::vector<Withheld> withheld;  ///< in sending order
};

/// Returns the bulk calls of a query. `bodies` are the calls that can be sent. The prompts of `bodies` leave
/// out nodes without tokens (print, monad, empty messages). `withheld` are the other calls. The prompt of
/// such a call contains another answer, or a node that must be resolved first.
ServerBodies serverBodies(const query::Node& query);

}  // namespace spanscope::spnl
