// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/remote/server/listener.h"

#include "engine/base/error.h"
#include "engine/base/problem_sentence.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

namespace spanscope::server {
namespace {

/// Passes a socket on immediately. The listener owns the threads.
class NoQueue final : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> work) override { work(); }
  void shutdown() override {}
};

const char* phraseOf(int status) {
  switch (status) {
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 408:
      return "Request Timeout";
    case 413:
      return "Payload Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Bad Request";
  }
}

ApiError tooManyClients() {
  return {.status = 503,
          .message = "This server has reached its max number of clients.",
          .type = "overloaded_error",
          .code = "too_many_clients"};
}

}  // namespace

std::string responseOf(const ApiError& error, bool closes) {
  const std::string body = errorJson(error);
  return "HTTP/1.1 " + std::to_string(error.status) + " " + phraseOf(error.status) +
         "\r\nContent-Type: application/json\r\n" + (closes ? "Connection: close\r\n" : "") +
         (error.status == 503 ? "Retry-After: 1\r\n" : "") +
         (error.status == 401 ? "WWW-Authenticate: Bearer\r\n" : "") +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

std::optional<ApiError> errorOf(ReadFault fault, const ServerLimits& limits) {
  switch (fault) {
    case ReadFault::None:
      break;
    case ReadFault::TooSlow:
      return ApiError{
          .status = 408, .message = "The request did not arrive in time.", .code = "request_timeout"};
    case ReadFault::HeadTooLong:
      return ApiError{
          .status = 431, .message = "The head of the request is too long.", .code = "head_too_long"};
    case ReadFault::BodyTooLong:
      return bodyTooLarge(limits.bodyBytes);
  }
  return std::nullopt;
}

Listener::Listener(const ServerLimits& limits, std::shared_ptr<SSL_CTX> tls)
    : m_limits(limits), m_tls(std::move(tls)) {
  new_task_queue = [] { return new NoQueue; };
  // Each token is sent immediately. Otherwise the second token waits until the client has confirmed the first
  // token.
  set_tcp_nodelay(true);
  set_payload_max_length(limits.bodyBytes);
  set_socket_options([](socket_t descriptor) {
    // Without the library's SO_REUSEPORT, a second server on the same port fails.
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
  // The library accepts five pending connections. Later clients would wait for seconds.
  if (taken > 0 && ::listen(svr_sock_, SOMAXCONN) == 0) return taken;
  const int error = errno;
  throw Failure(errorAt("address " + host + ":" + std::to_string(port),
                        error != 0 ? systemReport(error) : "This machine has no such address.",
                        "an address of this machine, with a free port"));
}

void Listener::start() {
  m_acceptingThread = std::thread([this] { listen_after_bind(); });
  while (!is_running()) std::this_thread::yield();
}

void Listener::closeSoon() {
  m_closesSoon = true;
  const std::lock_guard lock(m_mutex);
  for (auto& [connection, idle] : m_connections) {
    if (!idle.isNew && std::exchange(idle.since, std::nullopt)) connection->stopReading();
  }
}

std::size_t Listener::unanswered() const {
  constexpr std::chrono::milliseconds kToBegin{200};
  const std::lock_guard lock(m_mutex);
  const Clock::time_point now = Clock::now();
  const auto mayBegin = [&](const auto& one) {
    return one.second.isNew && one.second.since && now - *one.second.since < kToBegin;
  };
  const auto beginning = std::ranges::count_if(m_connections, mayBegin);
  return m_busy + m_waiting.size() + static_cast<std::size_t>(beginning);
}

void Listener::finish() {
  m_closesSoon = true;
  stop();
  if (m_acceptingThread.joinable()) m_acceptingThread.join();
  {
    const std::lock_guard lock(m_mutex);
    m_isEnding = true;
    for (const auto& [connection, idle] : m_connections) connection->end();
  }
  m_changed.notify_all();
  for (std::thread& thread : m_threads) thread.join();
  m_threads.clear();
}

/// Takes an accepted socket, on the one thread that accepts. Throws nothing, because an exception would end
/// the library's loop.
bool Listener::process_and_close_socket(socket_t descriptor) {
  try {
    if (!giveToThread(descriptor)) {
      // The client's request may not have arrived yet. This thread cannot wait for the request.
      Connection connection(descriptor, nullptr, m_limits);
      if (m_tls == nullptr) refuse(connection, tooManyClients());
      connection.stopWriting();
    }
  } catch (const std::exception&) {
    // There is no memory for a further client.
  }
  return true;
}

/// False: the max number of clients is waiting. The caller still owns the socket.
bool Listener::giveToThread(socket_t descriptor) {
  {
    const std::lock_guard lock(m_mutex);
    try {
      m_waiting.push_back(descriptor);
    } catch (const std::exception&) {
      return false;
    }
    if (m_freeThreads < m_waiting.size() && !startThread()) {
      closeLongestIdle();
      if (m_waiting.size() > m_limits.waitingClients || m_threads.empty()) {
        m_waiting.pop_back();
        return false;
      }
    }
    reportClients();
  }
  m_changed.notify_one();
  return true;
}

/// The mutex must be locked. False: no further thread is available.
bool Listener::startThread() {
  if (m_threads.size() >= m_limits.clients) return false;
  try {
    m_threads.emplace_back([this] { work(); });
  } catch (const std::exception&) {
    // The existing threads serve all clients.
    return false;
  }
  return true;
}

/// The mutex is locked, so that the last report is right.
void Listener::reportClients() const {
  if (onClients) onClients(m_connections.size() + m_waiting.size());
}

/// The mutex must be locked. A client that has just connected counts, because its first request has not
/// arrived yet.
void Listener::closeLongestIdle() {
  constexpr std::chrono::milliseconds kToBegin{1000};
  const Clock::time_point now = Clock::now();
  auto longest = m_connections.end();
  for (auto one = m_connections.begin(); one != m_connections.end(); ++one) {
    const Idle& idle = one->second;
    if (!idle.since || (idle.isNew && now - *idle.since < kToBegin)) continue;
    if (longest == m_connections.end() || *idle.since < *longest->second.since) longest = one;
  }
  if (longest == m_connections.end()) return;
  longest->second.since.reset();
  longest->first->stopReading();
}

bool Listener::hasWaitingClients() const {
  const std::lock_guard lock(m_mutex);
  return m_waiting.size() > m_freeThreads;
}

void Listener::work() {
  std::unique_lock lock(m_mutex);
  while (true) {
    ++m_freeThreads;
    m_changed.wait(lock, [this] { return !m_waiting.empty() || m_isEnding; });
    --m_freeThreads;
    if (m_waiting.empty()) return;
    const socket_t descriptor = m_waiting.front();
    m_waiting.pop_front();
    lock.unlock();
    try {
      serveSocket(descriptor);
    } catch (const std::exception&) {
      // There is no memory for the connection, so the connection is closed.
    }
    lock.lock();
  }
}

void Listener::serveSocket(socket_t descriptor) {
  Connection connection(descriptor, m_tls.get(), m_limits);
  const auto end = [&](Listener* self) {
    setCurrentConnection(nullptr);
    const std::lock_guard lock(self->m_mutex);
    self->m_connections.erase(&connection);
    self->reportClients();
  };
  // After any exception, no pointer to the connection remains.
  const std::unique_ptr<Listener, decltype(end)> atEnd(this, end);
  bool isOver = false;
  {
    const std::lock_guard lock(m_mutex);
    m_connections[&connection].since = Clock::now();
    reportClients();
    isOver = m_isEnding;
  }
  setCurrentConnection(&connection);
  if (isOver) {
    if (m_tls == nullptr) refuse(connection, serverIsEnding());
    connection.stopWriting();
  } else if (connection.greet()) {
    serve(connection);
  }
}

/// Waits for the next request. The wait ends after the max idle time of a connection, or after a second if
/// other clients wait.
bool Listener::awaitRequest(Connection& connection) const {
  constexpr std::chrono::milliseconds kTurn{1000};
  const Clock::time_point until = Clock::now() + m_limits.idle;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    if (connection.awaitRequest(std::min(left, kTurn))) return true;
    if (connection.fault() != ReadFault::TooSlow || left <= kTurn || hasWaitingClients()) return false;
  }
}

void Listener::serve(Connection& connection) {
  const auto change = [&](const auto& how) {
    const std::lock_guard lock(m_mutex);
    how(m_connections[&connection]);
  };
  bool goesOn = true;
  while (goesOn && awaitRequest(connection)) {
    change([this](Idle& idle) {
      idle = {.since = {}, .isNew = false};
      ++m_busy;
    });
    goesOn = serveRequest(connection) && !connection.closes() && !m_closesSoon && !hasWaitingClients();
    connection.endRequest();
    change([&](Idle& idle) {
      --m_busy;
      if (goesOn) idle.since = Clock::now();
    });
  }
  connection.closeGently();
}

/// Reads and answers one request. False: the connection is no longer usable. Throws nothing. The library also
/// writes answers outside of handlers.
bool Listener::serveRequest(Connection& connection) {
  connection.beginRequest();
  std::optional<ApiError> error;
  try {
    const std::optional<std::string> text = connection.readHeadText();
    if (text) {
      const bool isForLibrary = !onRequest;
      connection.setHead(readHead(*text, m_limits.bodyBytes, !isForLibrary), isForLibrary);
      if (onRequest) return onRequest(connection, *text);
      // The library leaves the body of other methods unread.
      const std::string& method = connection.head().method;
      if (connection.head().hasBody() && method != "POST" && method != "PUT" && method != "PATCH")
        connection.closeAfterwards();
      connection.beginBody({});
      bool isClosed = false;
      const bool isWhole = process_request(
          connection, connection.closes() || m_closesSoon || hasWaitingClients(), isClosed, nullptr);
      if (isWhole) return !isClosed;
    }
    error = errorOf(connection.fault(), m_limits);
  } catch (const ApiFailure& failure) {
    error = failure.error();
  } catch (const std::bad_alloc&) {
    error = outOfMemory();
  } catch (const std::exception&) {
    error = ApiError{
        .status = 503, .message = "The server could not answer the request.", .type = "server_error"};
  }
  try {
    if (error && !connection.hasWritten()) refuse(connection, *error);
  } catch (const std::exception&) {
    // There is no memory for an error message, so the connection is closed without a message.
  }
  return false;
}

/// An answer that the library does not write.
void Listener::refuse(Connection& connection, const ApiError& error) {
  connection.writeAll(responseOf(error, true));
  if (onRefusal) onRefusal(error.status);
}

}  // namespace spanscope::server
