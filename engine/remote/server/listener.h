// SPDX-License-Identifier: GPL-3.0-or-later
// The HTTP server with its sockets and threads. Open this file to change how connections wait.
#pragma once

#include "engine/remote/server/answer.h"
#include "engine/remote/server/connection.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace spanscope::server {

/// Returns an error as a whole HTTP response. `closes`: no further request is possible.
std::string responseOf(const ApiError& error, bool closes);
/// Returns the error for a request that cannot be read. Nothing: no fault.
std::optional<ApiError> errorOf(ReadFault fault, const ServerLimits& limits);

/// An HTTP server with a thread for each Connection. The HTTP library handles the requests; Spanscope has its
/// own sockets and threads. A client waits if all threads are busy. The server then closes idle connections,
/// starting with the longest idle connection.
class Listener final : public httplib::Server {
 public:
  /// `limits` must outlive this object. `tls`: null for connections without TLS.
  Listener(const ServerLimits& limits, std::shared_ptr<SSL_CTX> tls);
  ~Listener() override;

  /// Opens the address. Port 0: any free port. Throws Failure. Returns the port.
  int take(const std::string& host, int port);
  /// Serves clients on new threads.
  void start();
  /// From now on, each connection is closed after the current answer. A connection that waits for a request
  /// is closed immediately.
  void closeSoon();
  /// Returns the number of unanswered clients. Such a client has a request in progress, waits for a thread,
  /// or has just connected.
  std::size_t unanswered() const;
  /// Ends all connections, and waits for the threads of these connections.
  void finish();

  /// The server calls `onClients` at every change of the number of connections. Set `onClients` before
  /// start(). The function must not call this object.
  std::function<void(std::size_t)> onClients;
  /// The server calls `onRefusal` with the status of each answer that the library does not send. Set
  /// `onRefusal` before start().
  std::function<void(int)> onRefusal;
  /// Answers a request in place of the library. `head` has the bytes of the request's head, and the body is
  /// unread. Returns whether the connection can get another request. An ApiFailure becomes the answer, if
  /// nothing was written. Set `onRequest` before start(). Empty: the library answers.
  std::function<bool(Connection& connection, const std::string& head)> onRequest;

 private:
  using Clock = std::chrono::steady_clock;

  bool process_and_close_socket(socket_t descriptor) override;
  bool giveToThread(socket_t descriptor);
  bool startThread();
  void work();
  void serveSocket(socket_t descriptor);
  bool awaitRequest(Connection& connection) const;
  void serve(Connection& connection);
  bool serveRequest(Connection& connection);
  void refuse(Connection& connection, const ApiError& error);
  void reportClients() const;
  void closeLongestIdle();
  bool hasWaitingClients() const;

  const ServerLimits& m_limits;
  const std::shared_ptr<SSL_CTX> m_tls;
  std::atomic<bool> m_closesSoon = false;
  mutable std::mutex m_mutex;  ///< guards all members below
  std::condition_variable m_changed;
  bool m_isEnding = false;
  std::deque<socket_t> m_waiting;  ///< sockets of clients without a thread
  std::size_t m_freeThreads = 0;
  std::vector<std::thread> m_threads;
  struct Idle {
    std::optional<Clock::time_point> since{};  ///< start of the wait for a request; nothing: a request is in
                                               ///< progress, or the connection is being closed
    bool isNew = true;                         ///< waits for the first request
  };
  std::map<Connection*, Idle> m_connections;
  std::size_t m_busy = 0;  ///< connections with a request
  std::thread m_acceptingThread;
};

}  // namespace spanscope::server
