// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the requests of a query whose steps go to servers, in the servers' protocols. Open this file when a
// server gets wrong requests.
//
// Writes the prompts of a query in the form that servers of chat completions get. Each step is one
// conversation, in sending order, written by the model's chat template. Open this file when a server's prompt
// is predicted wrongly.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/layout/message_renderer.h"
#include "engine/layout/span_table.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/protocol.h"
#include "engine/simulator/order/child_order.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/settings.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

struct ServerRequests {
  std::vector<exports::ChatRequest> requests;
  std::vector<exports::QueryCall> calls;  ///< calls, for the steps whose protocol sends whole calls
  /// The same requests as messages, for a server that refuses calls. Empty: there are no calls.
  std::vector<exports::ChatRequest> messages{};
};

/// Returns the requests of calls as messages. Messages do not repeat an inner prompt, and send a seed.
/// `chats`: the same query by exports::chatRequests(). A request remains a call if `chats` lacks it or
/// `isCalled` is true for its node.
std::vector<exports::ChatRequest> asMessages(std::vector<exports::ChatRequest> requests,
                                             const std::vector<exports::ChatRequest>& chats,
                                             const std::function<bool(const NodePath&)>& isCalled = {});

/// Returns the generating nodes, each once, in the order of their requests. Throws Failure for a query that
/// cannot be planned or generates nothing.
std::vector<NodePath> generatingNodes(const query::Node& query);

/// Returns the requests of a query. `protocolOf` returns the protocol of a node's server; null: the embedded
/// engine, which gets messages. Throws Failure if there are no requests.
ServerRequests serverRequests(const query::Node& query, const RunSettings& settings,
                              const std::function<const remote::Protocol*(const NodePath&)>& protocolOf);

/// Returns the differences between the query and its execution by these protocols, each sentence once. Throws
/// Failure with the reason if a protocol cannot express the query. `hasSeed`: whether the answers depend on a
/// seed.
std::vector<std::string> protocolWarnings(const query::Node& query,
                                          const std::set<const remote::Protocol*>& protocols, bool hasSeed);

/// The protocol for the requests to a server.
struct ChosenProtocol {
  const remote::Protocol* protocol = nullptr;   ///< never null
  const remote::Protocol* otherwise = nullptr;  ///< RemoteTarget::otherwise
};

/// Returns the protocol with this name. An empty name chooses the first protocol that the server accepts and
/// that can express the query. Only then there is another protocol for refused requests. Throws Failure if
/// the server reports that it does not accept the protocol.
ChosenProtocol chosenProtocol(const std::string& name, const remote::ServerFacts& facts,
                              const query::Node& query, const std::string& server);

/// A step of a query: its node, and the number of the copy.
using StepName = std::pair<NodePath, std::uint32_t>;

/// The order of the messages of a step.
struct MessageOrder {
  std::vector<std::size_t> messages{};     ///< remote::SentOrder::messages; empty: as written
  std::vector<remote::OrderNote> notes{};  ///< remote::SentOrder::notes
  bool operator==(const MessageOrder&) const = default;
};
using MessageOrders = std::map<StepName, MessageOrder>;

/// The answer of a step.
struct SentAnswer {
  std::string text;
  bool endedItself = true;  ///< the answer ended with an end token, and not at its limit
  std::string server{};     ///< the server's name in the user's list; empty: the embedded engine
  std::optional<std::int64_t>
      promptTokens{};    ///< prompt tokens that the server counted; nothing: not reported.
  MessageOrder order{};  ///< of the messages of the request
  bool operator==(const SentAnswer&) const = default;
};

/// A query that was run, on any server.
struct SentQuery {
  RunId run = 0;          ///< different for each query
  std::string queryJson;  ///< the query of the run
  RunSettings settings;
  std::map<StepName, SentAnswer> answers;  ///< steps without an entry have no answer
  bool operator==(const SentQuery&) const = default;
};

struct ServerPrompt {
  StepName name;
  layout::SpanTable table;   ///< one segment, with its sections
  bool holdsAnswer = false;  ///< the answer is not sampled yet: negative tokens, up to its max number
  std::uint32_t ply = 0;     ///< plan::Step::ply
  SentAnswer answer{};       ///< for a query that was run
  /// For a query that was run: the sampled tokens. For another query: negative tokens, in the expected
  /// number.
  std::vector<TokenId> answerTokens{};
  std::int32_t mostAnswerTokens = 0;  ///< for a query that was not run: its limit; 0: none

  const std::vector<TokenId>& tokens() const;
  bool operator==(const ServerPrompt&) const = default;
};

/// Returns unknown tokens for an answer that is not sampled yet, in the expected number for a step. These
/// tokens are negative, all different, and in no prompt. `step` is the number of the step among the steps of
/// one cache.
std::vector<TokenId> expectedAnswer(std::optional<std::int32_t> maxTokens, std::size_t step);

/// A prompt by its index, in the order in which a server gets them.
struct SentPrompt {
  std::size_t index = 0;
  bool isBeside = false;  ///< twin::Request::isBeside
  bool operator==(const SentPrompt&) const = default;
};
/// Returns the order for a server that gets `atOnce` requests of a run at the same time. The requests of one
/// level come before the next level, unless `atOnce` is 1.
std::vector<SentPrompt> sentOrder(const std::vector<ServerPrompt>& prompts, std::size_t atOnce);

/// Returns the names of the files that a query reads, without their folders, by the places of their nodes.
/// `query` still has the nodes that read files.
remote::NodeNames fileNames(const query::Node& query);
/// Adds the name of a node that reads a file.
void addFileName(const query::Node& node, const NodePath& path, remote::NodeNames& names);

/// Returns the reason why the query cannot be sent as chat completions, in a sentence. Empty: the query can
/// be sent.
std::string chatRefusal(const query::Node& query);

/// Returns the plan of a query for servers without span support. An inner prompt is sent once, and its answer
/// is a message of the outer prompt. Throws Failure if the query cannot be planned.
plan::Plan chatPlan(const query::Node& query, const RunSettings& settings);

/// Writes prompts with one tokenizer and one chat template. The object keeps the ids of all texts. A similar
/// next query is therefore written quickly. Not thread-safe.
class PromptWriter {
 public:
  /// `chat` has the lifetime of the program.
  PromptWriter(std::shared_ptr<const text::Tokenizer> tokenizer, const text::ChatTemplate& chat);

  /// Writes prompts of a query that was not run. Throws Failure if it cannot be planned, or if a text cannot
  /// be written. Steps that are not in `orders` are written as in the query.
  std::vector<ServerPrompt> write(const query::Node& query, const RunSettings& settings,
                                  const std::stop_token& stop, const MessageOrders& orders = {});
  /// Writes the prompts of a query that was run, with their answers. Steps without an answer are left out,
  /// and steps that need such an answer, too. Throws like write().
  std::vector<ServerPrompt> write(const SentQuery& sent, const std::stop_token& stop);
  /// Works like promptPart().
  simulator::PromptPart part(const exports::ChatRequest& request) const;

 private:
  std::vector<ServerPrompt> write(const query::Node& query, const RunSettings& settings,
                                  const SentQuery* sent, const MessageOrders& orders,
                                  const std::stop_token& stop);

  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  const text::ChatTemplate& m_chat;
  std::unique_ptr<layout::MessageRenderer> m_renderer;
  std::size_t m_written = 0;  ///< tokens since the renderer was made
};

/// Identifies the tokenizer and the chat template of a document's prompts.
std::string promptModelId(const RunSettings& settings);

/// Returns the ids of an answer that a server sampled. The ids are the text of the answer, and its end token
/// if there was one.
std::vector<TokenId> sampledTokens(const SentAnswer& answer, const text::Tokenizer& tokenizer,
                                   const text::ChatTemplate& chat);

}  // namespace spanscope::workbench
