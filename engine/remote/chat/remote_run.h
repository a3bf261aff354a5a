// SPDX-License-Identifier: GPL-3.0-or-later
// Runs the chat completions of a query (export/chat_requests.h) on a server, one after the other. The reply
// of each stands in the prompts of those that need it.
#pragma once

#include "engine/base/error.h"
#include "engine/export/chat_requests.h"
#include "engine/remote/chat/chat_answer.h"
#include "engine/remote/chat/server_facts.h"
#include "engine/remote/http/http_client.h"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::remote {

struct RemoteServer {
  std::string url;    ///< "http://gpu-3:8000", with or without /v1
  std::string model;  ///< the server's name for the model; empty: the one of each request
  HttpAccess access{};
};

/// A request that was sent.
struct RemoteStep {
  std::size_t request = 0;  ///< index
  ChatAnswer answer;
  CachedTokens cached;
  std::optional<double> timeToFirstToken;  ///< seconds from sending to the first text; none: no text came
  double seconds = 0;                      ///< from sending to the end
  /// Why the answer has no end: a break, a stop, an error. What came stands in `answer`. Empty: it has one.
  std::string brokenBy;
};

/// Is told what comes, on the thread that runs.
class RemoteWatcher {
 public:
  virtual ~RemoteWatcher() = default;
  RemoteWatcher() = default;
  RemoteWatcher(const RemoteWatcher&) = delete;
  RemoteWatcher& operator=(const RemoteWatcher&) = delete;

  virtual void stepBegins(std::size_t request) { static_cast<void>(request); }
  virtual void promptProgress(std::size_t request, const PromptProgress& progress) {
    static_cast<void>(request), static_cast<void>(progress);
  }
  virtual void text(std::size_t request, const std::string& piece) {
    static_cast<void>(request), static_cast<void>(piece);
  }
  virtual void stepEnds(const RemoteStep& step) { static_cast<void>(step); }
};

struct RemoteResult {
  std::vector<RemoteStep> steps;  ///< those that were begun, in order
  std::optional<Error> error;     ///< why the run did not come to its end; none: it did, or was stopped
  bool isStopped = false;
};

/// `requests`: from exports::chatRequests(). `facts`: of the server. Nothing is sent twice; a stop ends the
/// request at the server, and what came of it stays.
RemoteResult runRemotely(HttpClient& client, const RemoteServer& server, const ServerFacts& facts,
                         const std::vector<exports::ChatRequest>& requests, RemoteWatcher& watcher,
                         const std::stop_token& stop = {});

/// The server's model for the name that a query has: the server's choice where it is empty; the same name;
/// one whose last part is the same ("meta-llama/Llama-3.1-8B" for "Llama-3.1-8B"), or the only one that there
/// is. Nothing: none of these.
std::optional<std::string> servedName(const ServerFacts& facts, const std::string& wanted);

}  // namespace spanscope::remote
