// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the protocols in which a query can be sent to a server. A protocol writes a request and reads its
// answer. Each has its own file and a line in protocol.cpp. Open this file to add a protocol.
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

/// Writes a conversation as one text or as tokens, up to the beginning of the answer. Throws Failure if it
/// cannot be written.
using PromptText = std::variant<std::string, std::vector<TokenId>>;
using PromptWriter = std::function<PromptText(const std::vector<exports::ChatMessage>& messages)>;

/// The data to send: one request, or a call of several requests.
struct Sending {
  const exports::ChatRequest& request;  ///< contains the answers that it needs
  const exports::QueryCall* call = nullptr;
  const std::vector<std::string>& replies;  ///< of all requests so far
  const std::string& model;                 ///< the server's name for the model
  const ServerKindInfo& kind;
  const PromptWriter& prompt;
  std::optional<std::int64_t> context{};  ///< of the model, in tokens; nothing: the server does not report
                                          ///< it.
  /// Asks the server for the number of tokens of a text. Nothing: not reported. Null: the server is not
  /// asked.
  std::function<std::optional<std::int64_t>(const std::string& text)> countTokens{};
};

/// A body and its address.
struct Outgoing {
  std::string body;
  std::string query{};      ///< of the address, after the protocol's path
  bool mayBeEmpty = false;  ///< whether an empty text is a valid answer: one token may have no text
};

/// Constants with the lifetime of the program.
struct Protocol {
  const char* name;   ///< the name in options: "spnl"
  const char* title;  ///< "SPNL's query endpoint"
  const char* help;   ///< the sent data, in one or two sentences
  const char* path;   ///< "/v1/query/execute"
  const char* form;   ///< the export target whose remarks apply: "chat"
  /// Whether most servers have it, so that known kinds are assumed to have it. Otherwise a server has it only
  /// if it clearly refuses an empty body at the path.
  bool isCommon = false;
  bool takesCalls = false;  ///< whether it sends whole calls; otherwise each request is sent separately
  bool takesSeeds = false;
  bool needsPrompt = false;  ///< whether it needs a PromptWriter
  const char* contentType = "application/json";
  const char* keyLine = kBearerLine;  ///< the text before the key in the head of a request
  const char* headLine = nullptr;     ///< another line of the head, or null
  /// When a server of this kind reports its cache hits in this protocol.
  CacheReporting (*reporting)(const ServerKindInfo& kind);
  /// Throws Failure if there is no such body.
  Outgoing (*write)(const Sending& sending);
  const AnswerForm* answers;  ///< never null

  bool isTakenBy(const ServerFacts& facts) const { return facts.takes(name); }
};

/// Returns the access to a server in this protocol. `kind` is that of the server, if known. Unknown servers
/// take a bearer token in every protocol, and so do all servers except OpenAI's.
HttpAccess accessIn(const Protocol& protocol, HttpAccess access, std::optional<ServerKind> kind = {});

/// Returns all protocols. If a server has several, the first is used, because it keeps the spans of queries.
std::span<const Protocol* const> protocols();
const Protocol& chatProtocol();
/// Returns null for an unknown name.
const Protocol* findProtocol(std::string_view name);
/// Returns the protocol for any query to this server, or null if the server has none.
const Protocol* protocolFor(const ServerFacts& facts);
/// Returns the first protocol of the server that can carry the query. If none can, returns the server's first
/// protocol, which reports the reason. Null: the server has none. `seed` is that of the run, if it must be
/// sent.
const Protocol* protocolFor(const ServerFacts& facts, const query::Node& query,
                            std::optional<std::uint64_t> seed = {});

/// Returns another protocol for a server that refuses the first one. It is the next one that can carry the
/// query as messages. Null: there is none.
const Protocol* protocolAfter(const Protocol& first, const ServerFacts& facts, const query::Node& query,
                              std::optional<std::uint64_t> seed = {});

/// Returns "spnl, chat, completions, messages".
std::string protocolNames();
/// Returns "spnl (SPNL's query endpoint), chat (chat completions), …", for the help of options.
std::string protocolList();

}  // namespace spanscope::remote
