// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/remote/server/connection.h"
#include "engine/remote/server/limits.h"

#include <httplib.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace spanscope::server {

/// An HTTP server with a thread for each connection, which is a Connection: it is the library's server with
/// sockets of ours.
class Listener final : public httplib::Server {
 public:
  /// `limits` must outlive it. `tls`: null for connections in the clear.
  Listener(const ServerLimits& limits, std::shared_ptr<SSL_CTX> tls);
  ~Listener() override;

  /// Takes hold of the address; port 0: of any that is free. Throws Failure. Returns the port.
  int take(const std::string& host, int port);
  /// Serves, on threads of its own.
  void start();
  /// From now on connections are closed after the answer that they wait for.
  void closeSoon() { m_closesSoon = true; }
  /// Ends all connections, and waits for their threads.
  void finish();

  std::size_t clients() const { return m_clients; }
  /// Called whenever the number of connections changes; set before start().
  std::function<void(std::size_t)> onClients;

 private:
  bool process_and_close_socket(socket_t descriptor) override;
  void serve(Connection& connection);

  const ServerLimits& m_limits;
  const std::shared_ptr<SSL_CTX> m_tls;
  std::atomic<std::size_t> m_clients = 0;
  std::atomic<bool> m_closesSoon = false;
  std::atomic<bool> m_isEnding = false;
  std::mutex m_mutex;
  std::set<Connection*> m_connections;
  std::thread m_thread;
};

}  // namespace spanscope::server
