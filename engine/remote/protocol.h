// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the protocols in which a query can be sent to a server. A protocol writes a request and reads the
// answer. Each protocol has a file and a line in protocol.cpp. Open this file to add a protocol.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/query/query.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/chat/server_facts.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::remote {

/// Writes a conversation as one text or as tokens, up to the beginning of the answer. Throws Failure if the
/// conversation cannot be written.
using PromptText = std::variant<std::string, std::vector<TokenId>>;
using PromptWriter = std::function<PromptText(const std::vector<exports::ChatMessage>& messages)>;

/// The data to send: one request, or a call of several requests.
struct Sending {
  const exports::ChatRequest& request;  ///< contains all needed answers of other requests
  const exports::QueryCall* call = nullptr;
  const std::vector<std::string>& replies;  ///< answers of all requests so far
  const std::string& model;                 ///< the server's name for the model
  const ServerKindInfo& kind;
  const PromptWriter& prompt;
  std::optional<std::int64_t> context{};  ///< context of the model, in tokens; nothing: not reported
  /// Requests the number of tokens of a text from the server. Nothing: not reported. The function is null if
  /// the server has no such request.
  std::function<std::optional<std::int64_t>(const std::string& text)> countTokens{};
};

/// The body of a request, with the query of its address.
struct Outgoing {
  std::string body;
  std::string query{};      ///< text after the path of the protocol in the address
  bool mayBeEmpty = false;  ///< whether an empty text is a valid answer: one token may have no text
};

/// Constants with the lifetime of the program.
struct Protocol {
  const char* name;   ///< the name in options: "spnl"
  const char* title;  ///< "SPNL's query endpoint"
  const char* help;   ///< one or two sentences about the sent data
  const char* path;   ///< "/v1/query/execute"
  const char* form;   ///< the export target whose remarks apply: "chat"
  /// Whether most servers have this protocol. The client then assumes that all known kinds of servers have
  /// the protocol. Otherwise the client sends an empty body to the path. The server has the protocol if the
  /// status is clearly an error of the body.
  bool isCommon = false;
  bool takesCalls = false;  ///< sends whole calls; otherwise each request separately
  bool takesSeeds = false;
  bool needsPrompt = false;  ///< whether the protocol needs a PromptWriter
  const char* contentType = "application/json";
  const char* keyLine = kBearerLine;  ///< the start of the header line with the key
  const char* headLine = nullptr;     ///< another header line, or null
  /// States when a server of this kind reports cache hits in this protocol.
  CacheReporting (*reporting)(const ServerKindInfo& kind);
  /// Throws Failure if there is no such body.
  Outgoing (*write)(const Sending& sending);
  const AnswerForm* answers;  ///< never null

  bool isTakenBy(const ServerFacts& facts) const { return facts.takes(name); }
};

/// Returns the access to a server in this protocol. `kind` is the kind of the server, if known. In every
/// protocol, a server of a known kind except OpenAi also gets a bearer token.
HttpAccess accessIn(const Protocol& protocol, HttpAccess access, std::optional<ServerKind> kind = {});

/// Returns all protocols. If a server has several protocols, the client uses the first of them. Only the
/// first protocol keeps the spans of queries.
std::span<const Protocol* const> protocols();
const Protocol& chatProtocol();
/// Returns null for an unknown name.
const Protocol* findProtocol(std::string_view name);
/// Returns the protocol for any query to this server, or null if the server has none.
const Protocol* protocolFor(const ServerFacts& facts);
/// Returns the first protocol of the server that can carry the query. If no protocol can, returns the
/// server's first protocol, which reports the reason. Null: the server has no protocol. `seed` is the seed of
/// the run, if the request must contain the seed.
const Protocol* protocolFor(const ServerFacts& facts, const query::Node& query,
                            std::optional<std::uint64_t> seed = {});

/// Returns another protocol for a server that refuses the first protocol. The result can carry the query as
/// messages. Null: there is no such protocol.
const Protocol* protocolAfter(const Protocol& first, const ServerFacts& facts, const query::Node& query,
                              std::optional<std::uint64_t> seed = {});

/// Returns "spnl, chat, completions, messages".
std::string protocolNames();
/// Returns "spnl (SPNL's query endpoint), chat (chat completions), …", for the help of options.
std::string protocolList();

}  // namespace spanscope::remote
