// SPDX-License-Identifier: GPL-3.0-or-later
// Writes shell commands and programs that send a request to the query endpoint of a server with span support.
// Open this file to change these texts.
//
// The server is vLLM with the span patch, which IBM/spnl uses. The request is POST
// /v1/query/execute?stream=…, content type text/plain. Its body is one `repeat` or `map` whose prompt
// contains only messages and joins. Names of models have no provider "spnl/". Lists what the backends of
// IBM/spnl 0.22 can do. The provider is the beginning of a model's name, before the first '/'. Open this file
// to add a backend. Splits a query into bulk calls for the query endpoint of a server with span support
// (IBM/spnl 0.22: POST /v1/query/execute). A call is a generate, a repeat or a map whose prompt contains only
// messages and joins. Open this file to change what can be sent.
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

/// Makes the request for a query: the generate, repeat or map at its root. Models lose "spnl/", and a single
/// generate becomes a repeat of one. Another root does not change, and the server refuses it.
query::Node requestFor(const query::Node& query);

/// Whether the request asks for only one token. SPNL then requests the answer in one piece.
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

/// Whether the model's server reuses spans. Only then are inner prompts distributed.
bool supportsSpans(std::string_view model);

/// Whether `repeat` is sent unchanged. If not, it is written out as a plus of generates.
bool supportsBulkRepeat(std::string_view model);

/// Whether `map` is sent unchanged. If not, it is written out as a plus of generates.
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
  NodePath node;     ///< the origin of the body: a generate, repeat or map
  query::Node body;  ///< isServerBody() is true for it
};

/// A generate, repeat or map that cannot be sent yet.
struct Withheld {
  NodePath node;
  std::string reason;  ///< one sentence
};

struct ServerBodies {
  std::vector<ServerBody> bodies;  ///< in sending order
  std::vector<Withheld> withheld;  ///< in sending order
};

/// Returns the bulk calls of a query. `bodies` are the calls that can be sent. Their prompts leave out nodes
/// without tokens (print, monad, empty messages). `withheld` are the other calls. Their prompt contains
/// another answer, or something that must be resolved first.
ServerBodies serverBodies(const query::Node& query);

}  // namespace spanscope::spnl
