// SPDX-License-Identifier: GPL-3.0-or-later
// The protocols in which a query can be sent to a server. Each has a folder of its own and a line in
// protocol.cpp.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/export/query_calls.h"
#include "engine/query/query.h"
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
  std::string query{};  ///< of the address, behind the protocol's path
  std::string contentType = "application/json";
  bool mayBeEmpty = false;  ///< whether no text is an answer, too: of a single token, which is none
};

/// Constants that live as long as the program.
struct Protocol {
  const char* name;   ///< in options: "spnl"
  const char* title;  ///< "SPNL's query endpoint"
  const char* help;   ///< what is sent, in a sentence or two
  const char* path;   ///< "/v1/query/execute"
  const char* form;   ///< the target of an export whose remarks apply: "chat"
  bool takesCalls;    ///< whether it sends whole calls; otherwise each request is sent for itself
  bool takesSeeds;
  bool needsPrompt;  ///< whether it needs a PromptWriter
  bool (*isTakenBy)(const ServerFacts& facts);
  /// When a server of this kind says in this protocol what it found in its cache.
  CacheReporting (*reporting)(const ServerKindInfo& kind);
  /// Throws Failure where there is no such body.
  Outgoing (*write)(const Sending& sending);
};

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

/// "spnl, chat, completions"
std::string protocolNames();

}  // namespace spanscope::remote
