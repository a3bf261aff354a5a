// SPDX-License-Identifier: GPL-3.0-or-later
// A server of the embedded engine. The endpoints are OpenAI's chat completions and completions, SPNL's query
// endpoint, and vLLM's additional endpoints. Open this file first when you work on `spanq serve`.
#pragma once

#include "engine/plan/planner.h"
#include "engine/remote/server/engine.h"
#include "engine/remote/server/kv_events.h"
#include "engine/remote/server/served_address.h"
#include "engine/run/run_options.h"

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::server {

struct ServerConfig : AddressConfig {
  /// Further names of the model for clients. "*": any name.
  std::vector<std::string> names{};
  KvPublisherConfig kvEvents{};  ///< no endpoint: nothing is published
  run::RunOptions run{};         ///< options of every run, before the options of a request
  plan::PlanOptions plan{};
};

class Server {
 public:
  /// Opens the address. `engine` must outlive this object. Throws Failure like ServedAddress.
  Server(ServerConfig config, Engine& engine);
  /// Stops the runs in progress.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Returns "http://127.0.0.1:8000".
  std::string url() const;
  int port() const;
  /// Returns the endpoints of KV events and replays with their actual ports. Empty: there are no such
  /// endpoints.
  std::string kvEvents() const;
  std::string kvEventsReplay() const;

  /// Begins to answer requests, on new threads.
  void start();
  /// Refuses new requests with 503. Running requests can finish until the time limit or until `hurry`. Then
  /// the server stops all remaining requests and ends.
  void finish(const std::stop_token& hurry = {});

  /// Returns the list of requests, for views.
  ServedRequests& requests();

 private:
  struct Impl;
  std::unique_ptr<Impl> m_impl;
};

}  // namespace spanscope::server
