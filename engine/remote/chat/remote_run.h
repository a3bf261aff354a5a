// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the requests of a query (export/chat_requests.h) on servers, each in the protocol of its server
// (protocol.h). Requests that do not need each other's replies are sent at the same time.
#pragma once

#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/export/query_calls.h"
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
  std::string model;  ///< the server's name for the model; empty: the one of each request
  HttpAccess access{};
  bool isUnlisted = false;  ///< whether `model` is sent also where the server does not list it
};

/// A request that was sent.
struct RemoteStep {
  std::size_t request = 0;  ///< index
  std::size_t target = 0;   ///< index of who answered it
  ChatAnswer answer;
  CachedTokens cached;
  std::optional<double> timeToFirstToken;  ///< seconds from sending to the first text; none: no text came
  std::optional<double> timeToLastText;    ///< the same to the last piece of text
  double seconds = 0;                      ///< from sending to the end
  /// Replies that the answer's counts are of, where several came in one answer: 0: those of an earlier step
  /// have them.
  std::size_t counted = 1;
  /// Why the answer has no end: a break, a stop, an error. What came stands in `answer`. Empty: it has one.
  std::string brokenBy;
  /// What a user must know of an answer that has an end; mostly empty.
  std::string warning{};
  bool isStopped = false;  ///< whether a stop broke it
};

/// Is told of an answer while it is made, on the thread that waits for it.
struct LocalWatch {
  std::function<void(const std::string& piece)> text;
  std::function<void(const PromptProgress& progress)> prompt;
};

/// Answers a request, in which the replies stand that it needs, in place of a server. A stop is an answer
/// that is broken by it; throws Failure where there is none. Called on another thread than runRemotely() is.
using LocalAnswer = std::function<RemoteStep(const exports::ChatRequest& request, const LocalWatch& watch,
                                             const std::stop_token& stop)>;

/// Requests of one run that a server gets at the same time, unless another number is set.
inline constexpr std::size_t kStandardAtOnce = 8;
inline constexpr std::size_t kMostAtOnce = 64;

/// A server by a name, with what it said of itself.
struct RemoteTarget {
  std::string name;  ///< by which a person knows it: "gpu-3"
  RemoteServer server;
  ServerFacts facts;
  LocalAnswer local{};  ///< of the embedded engine, which is none: `server` and `facts` say nothing then
  const Protocol* protocol = &chatProtocol();  ///< never null
  /// In which it is asked for messages where it refuses a call in `protocol`; null: that is an error.
  const Protocol* otherwise = nullptr;
  PromptWriter prompt{};     ///< for protocols that need one
  std::string promptForm{};  ///< how that writes: "under the template chatml, as text"
  /// Most requests that it answers at the same time, at least 1. The embedded engine gets one.
  std::size_t atOnce = kStandardAtOnce;
};

/// "vLLM on gpu-3"
std::string titleOf(const RemoteTarget& target);
/// "text completions, under the template chatml, as text"
std::string protocolText(const RemoteTarget& target);

/// Is notified of what comes, on the thread that calls runRemotely(). Events of requests that are under way
/// at the same time are mixed; those of one request are in order.
class RemoteWatcher {
 public:
  virtual ~RemoteWatcher() = default;
  RemoteWatcher() = default;
  RemoteWatcher(const RemoteWatcher&) = delete;
  RemoteWatcher& operator=(const RemoteWatcher&) = delete;

  virtual void stepBegins(std::size_t request) { static_cast<void>(request); }
  /// A body of so many bytes goes to a target now, which calls the model so. 0: it is in the body of an
  /// earlier request.
  virtual void sends(std::size_t request, std::size_t target, const std::string& model, std::size_t bytes) {
    static_cast<void>(request), static_cast<void>(target), static_cast<void>(model), static_cast<void>(bytes);
  }
  /// A target refuses its protocol at this request. That request and the next ones go there in another one:
  /// sends() follows.
  virtual void changesProtocol(std::size_t request, std::size_t target, const Error& refusal,
                               const Protocol& now) {
    static_cast<void>(request), static_cast<void>(target), static_cast<void>(refusal), static_cast<void>(now);
  }
  virtual void promptProgress(std::size_t request, const PromptProgress& progress) {
    static_cast<void>(request), static_cast<void>(progress);
  }
  virtual void text(std::size_t request, const std::string& piece) {
    static_cast<void>(request), static_cast<void>(piece);
  }
  /// Why a request has no answer: before stepEnds(), or without any other event where nothing was sent. The
  /// place of the error names the node and, where the query copies it, the number of the copy.
  virtual void fails(std::size_t request, const Error& error) {
    static_cast<void>(request), static_cast<void>(error);
  }
  virtual void stepEnds(const RemoteStep& step) { static_cast<void>(step); }
};

struct RemoteResult {
  std::vector<RemoteStep> steps;  ///< those that were begun, by request, ascending
  /// Why the run did not come to its end: the error of the first request that has one. None: it did, or was
  /// stopped.
  std::optional<Error> error;
  /// All errors, by request: of several that are under way, each can have one. The watcher has got them.
  std::map<std::size_t, Error> errors;
  /// The targets that were asked in another protocol than their first, with the last one.
  std::map<std::size_t, const Protocol*> changed;
  bool isStopped = false;
};

/// "The server refuses SPNL's query endpoint (status 404: …): it is asked by chat completions."
std::string changeText(const RemoteTarget& target, const Error& refusal, const Protocol& now);

/// `requests`: from exports::chatRequests(), or, where a target's protocol takes whole queries, from
/// exports::queryCalls() with its `calls`. `targetOf`: the index of who answers each request; empty: the
/// first target answers all. Nothing is sent twice. After an error nothing more is sent, and the requests
/// that are under way come to their end. A stop ends all of them at the server, and what came of them stays.
/// `messages`: the same requests for RemoteTarget::otherwise, one for one; empty: they are the same.
RemoteResult runRemotely(HttpClient& client, const std::vector<RemoteTarget>& targets,
                         const std::vector<std::size_t>& targetOf,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher& watcher,
                         const std::stop_token& stop = {}, const std::vector<exports::QueryCall>& calls = {},
                         const std::vector<exports::ChatRequest>& messages = {});

/// The server's model for the name that a query has: the server's choice where it is empty; the same name;
/// one whose last part is the same ("meta-llama/Llama-3.1-8B" for "Llama-3.1-8B"), or the only one that there
/// is; the name itself where the server does not say which it has. `isChosen`: the name was chosen for this
/// server, so that the only model of another name is none of it. Nothing: none of these.
std::optional<std::string> servedName(const ServerFacts& facts, const std::string& wanted,
                                      bool isChosen = false);

/// The same for what a target is asked for; `queryModel`: the name that the query has.
std::optional<std::string> servedName(const RemoteTarget& target, const std::string& queryModel);

/// The number of a request among the copies of its node, from 1, and of all of them.
struct CopyNumber {
  std::size_t number = 1;
  std::size_t all = 1;
};
CopyNumber copyOf(const std::vector<exports::ChatRequest>& requests, std::size_t request);
/// " (copy 2 of 4)"; empty: it is the only one.
std::string copyText(const CopyNumber& copy);

/// The names of a server's models for a message: "a, b and 298 more"; empty: it lists none.
std::string modelNames(const ServerFacts& facts);

}  // namespace spanscope::remote
