// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the requests of a query (export/chat_requests.h) on servers, each in the protocol of its server
// (protocol.h). Requests that do not need each other's answers are sent at the same time. Open this file
// first when you work on runs on servers.
#pragma once

#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/http/http_client.h"
#include "engine/remote/protocol.h"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::remote {

struct RemoteServer {
  std::string url;    ///< "http://gpu-3:8000", with or without /v1
  std::string model;  ///< the server's name for the model; empty: the name in each request
  HttpAccess access{};
  bool isUnlisted = false;  ///< sends the name `model` even if the server does not list this name
};

/// A request that was sent.
struct RemoteStep {
  std::size_t request = 0;  ///< index
  std::size_t target = 0;   ///< index of the target that answered
  ChatAnswer answer;
  CachedTokens cached;
  std::optional<double> timeToFirstToken;  ///< seconds from sending to the first text; nothing: no text
                                           ///< arrived
  std::optional<double> timeToLastText;    ///< seconds from sending to the last piece of text
  double seconds = 0;                      ///< seconds from sending to the end
  /// Number of answers that share the token counts of this answer. 0: the counts are in an earlier step.
  std::size_t counted = 1;
  /// The reason why the answer has no end: a broken connection, a stop, an error. `answer` contains the text
  /// so far. Empty: the answer has an end.
  std::string brokenBy;
  long status = 0;  ///< the HTTP status of the answer; 0: no answer arrived.
  /// A warning for the user about an answer that has an end; usually empty.
  std::string warning{};
  bool isStopped = false;  ///< whether a stop ended the request
};

/// Whether the server has computed the prompt of a request. A request that was stopped counts as computed,
/// because servers begin immediately. Other requests without text do not count: the server refused the
/// request, or the connection broke off. In the second case, the truth is unknown.
bool isComputed(const RemoteStep& step);

/// Receives the progress of an answer, on the thread that waits for the answer.
struct LocalWatch {
  std::function<void(const std::string& piece)> text;
  std::function<void(const PromptProgress& progress)> prompt;
};

/// Answers a request without a server. The request contains all needed answers of other requests. After a
/// stop, the function returns an answer that the stop has ended. Throws Failure if there is no answer. Not
/// called on the thread of runRemotely().
using LocalAnswer = std::function<RemoteStep(const exports::ChatRequest& request, const LocalWatch& watch,
                                             const std::stop_token& stop)>;

/// A child of a plus, for a text about the sent order.
struct SentChild {
  std::size_t number = 0;  ///< place in the written order, from 1
  NodePath node{};         ///< of its first message
  std::string beginning;   ///< of its text, on one line; empty: not known
  bool operator==(const SentChild&) const = default;
};

/// The children of each plus in sent order. Inner plus nodes follow their outer plus.
using SentChildren = std::vector<std::vector<SentChild>>;

/// The names of nodes by their paths, such as "car.txt".
using NodeNames = std::map<NodePath, std::string>;

/// Returns "car.txt, alarm.txt". If a child has no name of its own: `child 2 (“The car …”), child 1 (“An
/// …”)`. A semicolon separates the children of several plus nodes.
std::string childrenText(const SentChildren& children, const NodeNames& names = {});

/// A message that gives the model the written order of a plus whose children are sent in another order.
struct OrderNote {
  std::size_t group = 0;  ///< index in ChatRequest::groups of the request as written
  std::size_t place = 0;  ///< index of this message among the sent messages, notes included
  std::string text;
  bool operator==(const OrderNote&) const = default;
};

/// The order of a prompt that was chosen for the cache of a server.
struct SentOrder {
  std::vector<std::size_t> messages{};  ///< the messages as written, by their indices, in sent order
  std::string children{};               ///< the children of each plus in sent order: "3, 1, 2"
  SentChildren sent{};                  ///< the same children, with their nodes
  std::int64_t tokens = 0;              ///< of the prompt
  std::int64_t cached = 0;              ///< predicted cached tokens
  std::int64_t asWritten = 0;           ///< predicted cached tokens of the prompt as written
  bool isExact = true;                  ///< false: a better order may exist
  std::vector<OrderNote> notes{};       ///< ascending places; empty: the messages are sent without notes
  std::int64_t noteTokens = 0;          ///< tokens of all notes, included in `tokens`
  bool isMoved() const;
};
/// Returns "Sent order: car.txt, alarm.txt. Predicted cached tokens: 1024 of 1310, or 96 in the written
/// order".
std::string orderText(const SentOrder& order, const NodeNames& names = {});

/// Changes the order of the messages of a request. The request contains all needed answers. Nothing: the
/// request has no order to choose.
using Arranger = std::function<std::optional<SentOrder>(std::size_t index, exports::ChatRequest& request)>;

/// Default for the max number of requests of one run that a server gets at the same time.
inline constexpr std::size_t kStandardAtOnce = 8;
inline constexpr std::size_t kMostAtOnce = 64;

/// A server with a name and with the facts that the server reports.
struct RemoteTarget {
  std::string name;  ///< the name of the server for the user: "gpu-3"
  RemoteServer server;
  ServerFacts facts;
  LocalAnswer local{};  ///< answers by the embedded engine; `server` and `facts` are then unused
  const Protocol* protocol = &chatProtocol();  ///< never null
  /// The protocol for messages, if the server refuses a call in `protocol`. Null: the refusal is an error.
  const Protocol* otherwise = nullptr;
  PromptWriter prompt{};     ///< set for protocols that need a writer
  std::string promptForm{};  ///< form of the prompt: "under the template chatml, as text".
  /// Max number of concurrent requests of this target, at least 1. The embedded engine gets one request.
  std::size_t atOnce = kStandardAtOnce;
  Arranger arrange{};  ///< for protocols without calls; empty: messages are sent as written
};

/// Returns "vLLM on gpu-3".
std::string titleOf(const RemoteTarget& target);
/// Returns "text completions, under the template chatml, as text".
std::string protocolText(const RemoteTarget& target);

/// Receives the events of a run, on the thread that calls runRemotely(). Events of concurrent requests are
/// mixed. The events of one request are in order.
class RemoteWatcher {
 public:
  virtual ~RemoteWatcher() = default;
  RemoteWatcher() = default;
  RemoteWatcher(const RemoteWatcher&) = delete;
  RemoteWatcher& operator=(const RemoteWatcher&) = delete;

  virtual void stepBegins(std::size_t request) { static_cast<void>(request); }
  /// A body of `bytes` bytes is sent to a target now. `model` is the target's name for the model. 0 bytes:
  /// the body of an earlier request includes this request.
  virtual void sends(std::size_t request, std::size_t target, const std::string& model, std::size_t bytes) {
    static_cast<void>(request), static_cast<void>(target), static_cast<void>(model), static_cast<void>(bytes);
  }
  /// A target refuses this request in its protocol. This request and later requests to the target use another
  /// protocol. A call of sends() follows.
  virtual void changesProtocol(std::size_t request, std::size_t target, const Error& refusal,
                               const Protocol& now) {
    static_cast<void>(request), static_cast<void>(target), static_cast<void>(refusal), static_cast<void>(now);
  }
  /// The messages of the request were sent in an order that was chosen for the cache.
  virtual void orders(std::size_t request, const SentOrder& order) {
    static_cast<void>(request), static_cast<void>(order);
  }
  virtual void promptProgress(std::size_t request, const PromptProgress& progress) {
    static_cast<void>(request), static_cast<void>(progress);
  }
  virtual void text(std::size_t request, const std::string& piece) {
    static_cast<void>(request), static_cast<void>(piece);
  }
  /// The reason why a request has no answer. This call comes before stepEnds(), or alone if no request was
  /// sent. The place of the error names the node. If the query copies the node, the place also has the number
  /// of the copy.
  virtual void fails(std::size_t request, const Error& error) {
    static_cast<void>(request), static_cast<void>(error);
  }
  virtual void stepEnds(const RemoteStep& step) { static_cast<void>(step); }
};

struct RemoteResult {
  std::vector<RemoteStep> steps;  ///< the steps that were begun, by request, ascending
  /// The error of the first failed request. Nothing: no request has failed.
  std::optional<Error> error;
  /// All errors, by request: several concurrent requests can fail. The watcher has received these errors.
  std::map<std::size_t, Error> errors;
  /// The targets that refused their first protocol, each with the protocol used last.
  std::map<std::size_t, const Protocol*> changed;
  bool isStopped = false;
};

/// Returns "The server refuses SPNL's query endpoint (status 404: …). The server now gets chat completions."
std::string changeText(const RemoteTarget& target, const Error& refusal, const Protocol& now);

/// Runs requests on targets. No request is sent twice, except without a field that the server refused
/// (refused_fields.h). After an error no further request is sent, and running
/// requests finish. A stop ends all requests at the server. Each stopped step keeps the text so far.
/// Parameters:
/// - `requests` come from exports::chatRequests(). For protocols that take whole queries, `requests` and
///   `calls` come from exports::queryCalls().
/// - `targetOf` has the index of the target of each request. Empty: the first target answers all.
/// - `messages` has, for each request, the request in the protocol RemoteTarget::otherwise. Empty: the
///   requests are equal.
/// - `order` has all requests in the order in which they are sent if several can be sent. Empty: in the order
///   of the query.
RemoteResult runRemotely(HttpClient& client, const std::vector<RemoteTarget>& targets,
                         const std::vector<std::size_t>& targetOf,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher& watcher,
                         const std::stop_token& stop = {}, const std::vector<exports::QueryCall>& calls = {},
                         const std::vector<exports::ChatRequest>& messages = {},
                         const std::vector<std::size_t>& order = {});

/// Returns the server's model for the model name of a query. `isChosen`: the user chose the name for this
/// server, so that a different name does not match. Nothing: no model matches. The first matching rule
/// applies:
/// - An empty name means the server's choice.
/// - A model has the same name.
/// - A model has the same name after the last slash ("meta-llama/Llama-3.1-8B" for "Llama-3.1-8B"), or is the
///   only model.
/// - The server lists no models: the result is the name itself.
std::optional<std::string> servedName(const ServerFacts& facts, const std::string& wanted,
                                      bool isChosen = false);

/// Returns the server's model for a target. `queryModel` is the name in the query.
std::optional<std::string> servedName(const RemoteTarget& target, const std::string& queryModel);

/// The number of a request among the copies of its node, from 1, and the number of copies.
struct CopyNumber {
  std::size_t number = 1;
  std::size_t all = 1;
};
CopyNumber copyOf(const std::vector<exports::ChatRequest>& requests, std::size_t request);
/// Returns " (copy 2 of 4)", or an empty text for the only copy.
std::string copyText(const CopyNumber& copy);

/// Returns the names of a server's models for a message: "a, b and 298 more". Empty: the server lists no
/// models.
std::string modelNames(const ServerFacts& facts);

}  // namespace spanscope::remote
