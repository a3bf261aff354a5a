// SPDX-License-Identifier: GPL-3.0-or-later
// A server of the embedded engine. It has OpenAI's chat completions and completions, SPNL's query endpoint,
// and vLLM's additional endpoints. Open this file first when you work on `spanq serve`.
#pragma once

#include "engine/plan/planner.h"
#include "engine/remote/server/engine.h"
#include "engine/remote/server/kv_events.h"
#include "engine/remote/server/limits.h"
#include "engine/remote/server/served_requests.h"
#include "engine/run/run_options.h"

#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::server {

struct ServerConfig {
  std::string host = "127.0.0.1";  ///< a name or an address to listen on
  int port = 8000;                 ///< 0: any free port
  /// Names of the model for clients, besides its own. "*": any name.
  std::vector<std::string> names{};
  std::vector<std::string> keys{};  ///< of clients; empty: no key is needed
  std::filesystem::path certificate{};
  std::filesystem::path privateKey{};
  std::vector<std::string> hosts{};    ///< like AccessRules::hosts
  std::vector<std::string> origins{};  ///< like AccessRules::origins
  bool keepsTexts = true;              ///< false: no texts in requests() and the events there
  ServerLimits limits{};
  ServedLimits served{};
  KvPublisherConfig kvEvents{};  ///< no endpoint: nothing is published
  run::RunOptions run{};         ///< of every run, before the options of a request
  plan::PlanOptions plan{};
};

class Server {
 public:
  /// Opens the address. `engine` must outlive it. Throws Failure in these cases:
  /// - The address cannot be opened.
  /// - The files of certificate and key do not fit.
  /// - An address beyond the loopback has no keys and TLS.
  Server(ServerConfig config, Engine& engine);
  /// Stops the work in progress.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns "http://127.0.0.1:8000".
  std::string url() const;
  int port() const;
  /// Returns the endpoints of KV events and replays with their actual ports. Empty: there are none.
  std::string kvEvents() const;
  std::string kvEventsReplay() const;

  /// Begins to answer, on threads of its own.
  void start();
  /// Refuses new requests with 503. Running requests can finish until their time limit or until `hurry`. Then
  /// the server stops the others and ends.
  void finish(const std::stop_token& hurry = {});

  /// Returns the list of requests, for views.
  ServedRequests& requests();

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::server
