// SPDX-License-Identifier: GPL-3.0-or-later
// The protocols in which a query can be sent to a server: how a request is written and how its answer is
// read. Each has a file of its own and a line in protocol.cpp.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/export/query_calls.h"
#include "engine/query/query.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/chat/server_kind.h"

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

/// A conversation as one text, or as tokens, up to where the reply begins. Throws Failure where it cannot be
/// written.
using PromptText = std::variant<std::string, std::vector<TokenId>>;
using PromptWriter = std::function<PromptText(const std::vector<exports::ChatMessage>& messages)>;

/// What is to be sent: one request, or a call of several.
struct Sending {
  const exports::ChatRequest& request;  ///< the replies that it needs stand in it
  const exports::QueryCall* call = nullptr;
  const std::vector<std::string>& replies;  ///< of all requests so far
  const std::string& model;                 ///< as the server calls it
  const ServerKindInfo& kind;
  const PromptWriter& prompt;
  std::optional<std::int64_t> context{};  ///< of the model, in tokens; none: the server does not say it
  /// Asks the server how many tokens a text is; nothing: it does not say. Null: it is not asked.
  std::function<std::optional<std::int64_t>(const std::string& text)> countTokens{};
};

/// A body and where it goes.
struct Outgoing {
  std::string body;
  std::string query{};      ///< of the address, behind the protocol's path
  bool mayBeEmpty = false;  ///< whether no text is an answer, too: of a single token, which is none
};

/// Constants that live as long as the program.
struct Protocol {
  const char* name;   ///< in options: "spnl"
  const char* title;  ///< "SPNL's query endpoint"
  const char* help;   ///< what is sent, in a sentence or two
  const char* path;   ///< "/v1/query/execute"
  const char* form;   ///< the target of an export whose remarks apply: "chat"
  /// Whether most servers have it, so that those of known kinds are taken to. Otherwise a server has it only
  /// if it clearly refuses an empty body there.
  bool isCommon = false;
  bool takesCalls = false;  ///< whether it sends whole calls; otherwise each request is sent for itself
  bool takesSeeds = false;
  bool needsPrompt = false;  ///< whether it needs a PromptWriter
  const char* contentType = "application/json";
  const char* keyLine = kBearerLine;  ///< what is before the key in the head of a request
  const char* headLine = nullptr;     ///< another line of the head; null: there is none
  /// When a server of this kind says in this protocol what it found in its cache.
  CacheReporting (*reporting)(const ServerKindInfo& kind);
  /// Throws Failure where there is no such body.
  Outgoing (*write)(const Sending& sending);
  const AnswerForm* answers;  ///< never null

  bool isTakenBy(const ServerFacts& facts) const { return facts.takes(name); }
};

/// How a server is reached in this protocol. `kind`: of the server, if it is known: servers other than
/// OpenAI's and those that are not known take a bearer token in every protocol.
HttpAccess accessIn(const Protocol& protocol, HttpAccess access, std::optional<ServerKind> kind = {});

/// All of them. Where a server has several, the first of them is taken: queries keep their spans.
std::span<const Protocol* const> protocols();
const Protocol& chatProtocol();
/// Null for a name that is none of these.
const Protocol* findProtocol(std::string_view name);
/// The one to ask a server in, whatever the query; null: it has none of them.
const Protocol* protocolFor(const ServerFacts& facts);
/// The first one that the server takes and that can carry the query. Where none can, the first that it takes,
/// which says why not. Null: it takes none. `seed`: of the run, where it is to be sent.
const Protocol* protocolFor(const ServerFacts& facts, const query::Node& query,
                            std::optional<std::uint64_t> seed = {});

/// Another protocol in which a server that refuses the first one can be asked for the same: the next one that
/// it takes and that can carry the query as messages. Null: there is none.
const Protocol* protocolAfter(const Protocol& first, const ServerFacts& facts, const query::Node& query,
                              std::optional<std::uint64_t> seed = {});

/// "spnl, chat, completions, messages"
std::string protocolNames();
/// "spnl (SPNL's query endpoint), chat (chat completions), …": for the help of options.
std::string protocolList();

}  // namespace spanscope::remote
