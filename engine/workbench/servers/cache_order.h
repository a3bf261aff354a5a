// SPDX-License-Identifier: GPL-3.0-or-later
// Changes the order of the messages of a request for the cache of its server (simulator/order). Open this
// file when the messages of a request have a wrong order.
#pragma once

#include "engine/base/ids.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/remote_run.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/simulator/order/child_order.h"
#include "engine/simulator/servers.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"
#include "engine/workbench/servers/simulator_prediction.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

/// Returns a request as a tree of tokens. The texts are the beginning of the conversation, each message, and
/// the generation prompt. A plus with a system message keeps its order, because servers expect system
/// messages first. `answer` returns the tokens of a request's answer, for prompts with unknown answers.
/// Empty: the messages contain the answers. Throws Failure if the messages cannot be written.
simulator::PromptPart promptPart(const exports::ChatRequest& request, const text::Tokenizer& tokenizer,
                                 const text::ChatTemplate& chat,
                                 const std::function<std::vector<TokenId>(std::size_t request)>& answer = {});

/// Returns the messages in a chosen order, by their indices. Empty: the order has other messages.
std::vector<std::size_t> messagesInOrder(const exports::ChatRequest& request,
                                         const simulator::ChosenOrder& order);

/// Returns the children of each plus in a chosen order: "3, 1, 2", and for several plus nodes "3, 1, 2; 2,
/// 1". Empty: no plus has two children.
std::string childrenInOrder(const exports::ChatRequest& request, const simulator::ChosenOrder& order);

/// Returns the same children with their nodes. `request` has the written order.
remote::SentChildren sentChildren(const exports::ChatRequest& request, const simulator::ChosenOrder& order);

/// Returns the notes for a request whose messages are sent in this order, by their indices. A plus that is
/// not inside another plus has one note if its children change places. Every server request, prediction and
/// gateway uses this function.
std::vector<remote::OrderNote> orderNotes(const exports::ChatRequest& request,
                                          const std::vector<std::size_t>& messages);

/// Puts the messages of a request in a chosen order. `hasOrderNote` adds the notes of orderNotes(). Returns
/// the order. Nothing: the order has other messages, and the request is unchanged. Throws Failure if the
/// messages cannot be written.
std::optional<remote::SentOrder> putInOrder(exports::ChatRequest& request,
                                            const simulator::ChosenOrder& chosen, bool hasOrderNote,
                                            const text::Tokenizer& tokenizer, const text::ChatTemplate& chat);

/// Returns the rules for a simulated cache.
simulator::OrderRules orderRules(const simulator::Simulator& simulator);

/// Orders the requests of a run for the caches of their servers, and feeds the cache simulators with them.
/// The functions are called on the thread of remote::runRemotely().
class CacheOrderer {
 public:
  /// The tokens of `tokenizer` and `chat` count as the tokens of every server. `chat` must outlive the
  /// object.
  CacheOrderer(std::shared_ptr<ServerSimulators> simulators, std::shared_ptr<const text::Tokenizer> tokenizer,
               const text::ChatTemplate& chat)
      : m_simulators(std::move(simulators)), m_tokenizer(std::move(tokenizer)), m_chat(chat) {}
  /// A run that ends by an exception leaves no prompt in progress.
  ~CacheOrderer();
  CacheOrderer(const CacheOrderer&) = delete;
  CacheOrderer& operator=(const CacheOrderer&) = delete;

  /// Sets the arranger of a target. Call this function for every server. The object must outlive the run.
  /// `keepsOrder` and `hasOrderNote`: as in NamedServer.
  void use(remote::RemoteTarget& target, bool keepsOrder, bool hasOrderNote);

  /// Counts the parts of the requests that a server will get. Returns the order in which these requests
  /// should be sent, as indices. Empty: a request cannot be written, so there is no order.
  std::vector<std::size_t> expect(const std::string& server,
                                  const std::vector<exports::ChatRequest>& requests);

  /// The planned orders of prompts, by content.
  using Plan = std::map<std::uint64_t, PlannedOrder>;
  /// The plan from all calls of expect(). Another orderer with the same simulators can use the plan.
  const std::shared_ptr<const Plan>& plan() const { return m_plan; }
  void use(std::shared_ptr<const Plan> plan) { m_plan = std::move(plan); }

  /// Call this function for remote::RemoteWatcher::sends().
  void sends(std::size_t request, const remote::RemoteTarget& target);
  /// Call this function for remote::RemoteWatcher::stepEnds(). Returns the prediction for the prompt.
  /// Nothing: there was no prediction, or the server did not confirm the number of tokens.
  std::optional<PredictedReuse> ends(const remote::RemoteStep& step);

 private:
  struct Sent {
    std::string server;
    std::uint64_t number = 0;
    PredictedReuse predicted;
  };

  std::optional<remote::SentOrder> arrange(const std::string& server, const remote::ServerFacts& facts,
                                           exports::ChatRequest& request, bool hasOrderNote) const;

  std::shared_ptr<ServerSimulators> m_simulators;
  std::shared_ptr<const text::Tokenizer> m_tokenizer;
  const text::ChatTemplate& m_chat;
  std::map<std::size_t, std::vector<exports::ChatMessage>> m_messages;  ///< of each request, as sent
  std::shared_ptr<const Plan> m_plan = std::make_shared<const Plan>();  ///< never null
  std::map<std::size_t, Sent> m_sent;                                   ///< prompts in progress, by request
};

}  // namespace spanscope::workbench
