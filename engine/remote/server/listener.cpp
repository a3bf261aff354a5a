// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/listener.h"

#include "engine/base/error.h"
#include "engine/remote/server/api_error.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace spanscope::server {
namespace {

/// Threads beside those of the clients that are served: they tell others that there are too many.
constexpr std::size_t kRefusingThreads = 8;

void writeWhole(Connection& connection, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = connection.write(text.data() + written, text.size() - written);
    if (count <= 0) return;
    written += static_cast<std::size_t>(count);
  }
}

/// An answer to what never became a request.
void refuse(Connection& connection, const char* status, const ApiError& error) {
  const std::string body = errorJson(error);
  writeWhole(connection, std::string("HTTP/1.1 ") + status +
                             "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
                             std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace

Listener::Listener(const ServerLimits& limits, std::shared_ptr<SSL_CTX> tls)
    : m_limits(limits), m_tls(std::move(tls)) {
  new_task_queue = [this] { return new httplib::ThreadPool(m_limits.clients + kRefusingThreads); };
  set_payload_max_length(limits.bodyBytes);
  set_socket_options([](socket_t descriptor) {
    // Without the library's SO_REUSEPORT: two servers must not share a port without a word.
    const int yes = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
}

Listener::~Listener() {
  finish();
}

int Listener::take(const std::string& host, int port) {
  const std::string bare =
      host.starts_with("[") && host.ends_with("]") ? host.substr(1, host.size() - 2) : host;
  errno = 0;
  const int taken = port == 0 ? bind_to_any_port(bare) : bind_to_port(bare, port) ? port : -1;
  // The library lets five clients knock at once; those behind them would wait for seconds.
  if (taken > 0 && ::listen(svr_sock_, SOMAXCONN) == 0) return taken;
  const int error = errno;
  throw Failure(errorAt("address " + host + ":" + std::to_string(port),
                        error != 0 ? std::generic_category().message(error) : "nothing to listen on",
                        "an address of this machine whose port is free"));
}

void Listener::start() {
  m_thread = std::thread([this] { listen_after_bind(); });
  while (!is_running()) std::this_thread::yield();
}

void Listener::finish() {
  m_isEnding = true;
  m_closesSoon = true;
  stop();
  {
    const std::lock_guard lock(m_mutex);
    for (const Connection* connection : m_connections) connection->end();
  }
  if (m_thread.joinable()) m_thread.join();
}

bool Listener::process_and_close_socket(socket_t descriptor) {
  const std::size_t clients = ++m_clients;
  if (onClients) onClients(clients);
  {
    Connection connection(descriptor, m_tls.get(), m_limits);
    {
      const std::lock_guard lock(m_mutex);
      m_connections.insert(&connection);
      if (m_isEnding) connection.end();
    }
    setCurrentConnection(&connection);
    if (clients > m_limits.clients) {
      if (m_tls == nullptr)
        refuse(connection, "503 Service Unavailable",
               {.message = "This server has as many clients as it may have.",
                .type = "overloaded_error",
                .code = "too_many_clients"});
      connection.closeGently();
    } else if (connection.greet()) {
      serve(connection);
    }
    setCurrentConnection(nullptr);
    const std::lock_guard lock(m_mutex);
    m_connections.erase(&connection);
  }
  const std::size_t left = --m_clients;
  if (onClients) onClients(left);
  return true;
}

void Listener::serve(Connection& connection) {
  while (connection.awaitRequest()) {
    connection.beginRequest();
    bool isClosed = false;
    const bool isWhole = process_request(connection, m_closesSoon, isClosed, nullptr);
    if (!isWhole && !connection.hasWritten()) {
      if (connection.fault() == ReadFault::TooSlow)
        refuse(connection, "408 Request Timeout",
               {.message = "The request did not come in time.", .code = "request_timeout"});
      else if (connection.fault() == ReadFault::HeadTooLong)
        refuse(connection, "431 Request Header Fields Too Large",
               {.message = "The head of the request is too long.", .code = "head_too_long"});
    }
    if (!isWhole || isClosed || connection.closes() || m_closesSoon) break;
  }
  connection.closeGently();
}

}  // namespace spanscope::server
