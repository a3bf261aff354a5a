// SPDX-License-Identifier: GPL-3.0-or-later
// A server of the embedded engine: OpenAI's chat completions and completions, SPNL's query endpoint, and what
// vLLM has beside them.
#pragma once

#include "engine/plan/planner.h"
#include "engine/remote/server/engine.h"
#include "engine/remote/server/kv_publisher.h"
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
  int port = 8000;                 ///< 0: any that is free
  /// Names by which clients may call the model, besides its own; "*": any.
  std::vector<std::string> names{};
  std::vector<std::string> keys{};  ///< of clients; none: nobody needs one
  std::filesystem::path certificate{};
  std::filesystem::path privateKey{};
  std::vector<std::string> hosts{};    ///< as AccessRules::hosts
  std::vector<std::string> origins{};  ///< as AccessRules::origins
  bool keepsTexts = true;              ///< false: no texts in requests() and the events there
  ServerLimits limits{};
  ServedLimits served{};
  KvPublisherConfig kvEvents{};  ///< no endpoint: nothing is published
  run::RunOptions run{};         ///< of every run, before what a request says
  plan::PlanOptions plan{};
};

class Server {
 public:
  /// Takes hold of the address. Throws Failure: for an address that cannot be had, files that do not fit, and
  /// an address beyond the loopback without keys and TLS. `engine` must outlive it.
  Server(ServerConfig config, Engine& engine);
  /// Stops what goes on.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// "http://127.0.0.1:8000"
  std::string url() const;
  int port() const;
  /// Where KV events are published and sent again, with the ports that were taken; empty: nowhere.
  std::string kvEvents() const;
  std::string kvEventsReplay() const;

  /// Begins to answer, on threads of its own.
  void start();
  /// Refuses new requests with 503, lets those that run finish for as long as the limits say or until
  /// `hurry`, stops the others, and ends.
  void finish(const std::stop_token& hurry = {});

  /// What was asked, for whoever shows it.
  ServedRequests& requests();

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::server
