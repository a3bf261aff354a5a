// SPDX-License-Identifier: GPL-3.0-or-later
// The connection of one client, with or without TLS, with its limits. Open this file to change time limits of
// reading and writing.
//
// Reads the head of an HTTP request strictly. Open this file when a request is refused before its body is
// read.
#pragma once

#include <httplib.h>
#include <openssl/ssl.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::server {

/// The limits for the clients of a server. Each limit has its own error for a request beyond the limit.
struct ServerLimits {
  std::size_t bodyBytes = std::size_t{16} << 20U;  ///< max size of a body: 413
  std::size_t headBytes = std::size_t{64} << 10U;  ///< max size of a request line with the headers: 431
  /// Max sum of all bodies above 256 KiB of requests in progress. Further bodies wait until earlier requests
  /// have ended. A request takes up to about 50 times the memory of the body.
  std::size_t largeBodyBytes = std::size_t{32} << 20U;
  std::size_t clients = 128;  ///< connections that the server serves at the same time; other connections wait
  std::size_t waitingClients = 512;          ///< clients that wait for a connection: 503
  std::size_t requests = 64;                 ///< requests in progress at the same time; other requests wait
  std::int32_t answerTokens = 0;             ///< tokens of one answer; 0: the model's context
  std::chrono::milliseconds toRead{20'000};  ///< until a request has arrived completely: 408
  std::chrono::milliseconds toStall{
      20'000};  ///< until a client reads the written data; after this time the connection is closed
  std::chrono::milliseconds toAnswer{600'000};  ///< until an answer is complete: 504
  std::chrono::milliseconds idle{5'000};        ///< max wait of a connection for the next request
  std::chrono::milliseconds toFinish{30'000};   ///< max time for running answers when the server ends
};

/// The request line and the header fields of a request, read strictly. Two readers of the same bytes must not
/// understand two different requests (RFC 9112).
struct RequestHead {
  std::string method;
  /// As sent, percent-encoded. An absolute target ("http://host/path") is reduced to its path. The host is
  /// then the value of the field "host".
  std::string target;
  bool isOld = false;  ///< HTTP/1.0
  /// Names are in lower case. Values are unchanged bytes without spaces at both ends.
  std::vector<std::pair<std::string, std::string>> fields;
  std::uint64_t length = 0;  ///< length of the body in bytes; 0 if the body arrives in chunks
  bool isChunked = false;
  bool closes = false;  ///< the client sends nothing more on this connection

  bool hasBody() const { return isChunked || length > 0; }
  /// Returns the value of the first field with this name. Empty: there is no such field.
  std::string_view value(std::string_view name) const;
  std::size_t count(std::string_view name) const;
  /// Whether a list field has this entry. The field name and the entry are in lower case.
  bool lists(std::string_view name, std::string_view entry) const;
};

/// Reads a head from its first byte to its empty line. Throws ApiFailure with these statuses:
/// - 400: not a head of HTTP 1.0 or 1.1, a control character, two hosts, or contradictory lengths;
/// - 413: a body of more than `mostBodyBytes`;
/// - 414: a target of more than kMostTargetBytes;
/// - 415: a body in several parts, unless `takesParts`.
RequestHead readHead(std::string_view text, std::size_t mostBodyBytes, bool takesParts = false);
inline constexpr std::size_t kMostTargetBytes = 4096;

/// Returns the head that the HTTP library gets instead of the client's head. This head has only the fields
/// for the body and the connection. Other fields would make the library answer range requests, compress
/// answers and parse forms.
std::string headForLibrary(const RequestHead& head);

/// Limits the amount that is in use at the same time. A request that needs more than the free amount waits.
/// Requests continue in the order of arrival. Any thread may call any function.
class Gate {
 public:
  /// `most`: at least 1, in any unit.
  explicit Gate(std::uint64_t most) : m_most(most) {}

  /// A share that is in use until this object ends. Move-only. An empty share uses nothing.
  class Pass {
   public:
    Pass() = default;
    Pass(Pass&& other) noexcept
        : m_gate(std::exchange(other.m_gate, nullptr)), m_amount(std::exchange(other.m_amount, 0)) {}
    Pass& operator=(Pass&& other) noexcept {
      std::swap(m_gate, other.m_gate);
      std::swap(m_amount, other.m_amount);
      return *this;
    }
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;
    ~Pass() { reduceTo(0); }

    explicit operator bool() const { return m_gate != nullptr; }
    /// Releases everything above `amount`.
    void reduceTo(std::uint64_t amount);

   private:
    friend class Gate;
    Pass(Gate* gate, std::uint64_t amount) : m_gate(gate), m_amount(amount) {}

    Gate* m_gate = nullptr;
    std::uint64_t m_amount = 0;
  };

  /// Waits until `amount` is free and no earlier request waits. An amount above the limit counts as the
  /// limit. The function calls `gaveUp` before the wait, then about 20 times a second. `gaveUp` must not
  /// throw. If `gaveUp` returns true, the result is an empty share.
  Pass enter(std::uint64_t amount, const std::function<bool()>& gaveUp);
  /// Returns the number of waiting requests.
  std::size_t waiting();

 private:
  void leave(std::uint64_t amount);

  const std::uint64_t m_most;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::uint64_t m_used = 0;
  std::list<std::uint64_t> m_queue;  ///< amounts of the waiting requests, in order
};

/// The reason why a request cannot be read.
enum class ReadFault { None, TooSlow, HeadTooLong, BodyTooLong };

/// Only the thread that serves the client may call a function, except end() and stopReading().
class Connection final : public httplib::Stream {
 public:
  /// `tls`: null for a connection without TLS. The destructor closes the socket.
  Connection(int descriptor, SSL_CTX* tls, const ServerLimits& limits);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Makes the connection secure if `tls` was given. Returns false if the client does not complete the TLS
  /// handshake in time.
  bool greet();
  /// Waits for the first byte of a request. Returns false if no byte arrives. fault() reports whether the
  /// time limit was reached.
  bool awaitRequest(std::chrono::milliseconds most);
  /// Call this when a request begins. From then on, the time limits of reading apply.
  void beginRequest();
  /// Returns the head of the request, from its first byte to its empty line. Nothing: the client has closed,
  /// or fault() has the reason.
  std::optional<std::string> readHeadText();
  /// Sets the head of the current request. If `isForLibrary`, read() then returns the new head first.
  void setHead(RequestHead head, bool isForLibrary = true);
  const RequestHead& head() const { return m_head; }
  /// Call this when reading the body begins. The time limit of the body starts now. `room` is released when
  /// the request has ended.
  void beginBody(Gate::Pass room);
  /// Call this when the whole body was read. `bytes` is its size.
  void endBody(std::size_t bytes) { m_room.reduceTo(bytes); }
  /// Call this when the current request has ended.
  void endRequest();
  ReadFault fault() const { return m_fault; }
  /// Whether the client has closed its side and waits for no answer.
  bool isClientGone() const;
  /// Ends all waits for the client. Any thread may call this.
  void end() const;
  /// Stops waiting for further requests. Written data still arrives. Any thread may call this.
  void stopReading();
  /// Closes the sending side. The client sees the end.
  void stopWriting() const;
  /// Closes the connection. The client still gets the written data, even if the client is sending.
  void closeGently();

  /// Closes the connection after the current request.
  void closeAfterwards() { m_closes = true; }
  bool closes() const { return m_closes || m_hasStopped; }
  bool hasWritten() const { return m_hasWritten; }

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* into, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  using Stream::write;
  /// Writes all bytes. Returns false if the client does not read them in time, or is gone.
  bool writeAll(std::string_view bytes);
  void get_remote_ip_and_port(std::string& address, int& port) const override;
  void get_local_ip_and_port(std::string& address, int& port) const override;
  /// The library refuses descriptors that select() cannot use. This class gives its descriptors to poll().
  socket_t socket() const override { return 0; }

 private:
  using Clock = std::chrono::steady_clock;
  bool waitFor(short what, Clock::time_point until) const;
  ssize_t receive(char* into, std::size_t size, Clock::time_point until);

  struct FreeSsl {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };

  const int m_descriptor;
  const ServerLimits& m_limits;
  std::unique_ptr<SSL, FreeSsl> m_ssl;
  std::array<char, 8192> m_buffer{};
  std::size_t m_begin = 0;
  std::size_t m_end = 0;
  bool fill();
  Clock::time_point nextByteUntil() const;  ///< the time limit of the current read

  RequestHead m_head;
  std::string m_front;           ///< data that read() returns before the client's bytes
  std::size_t m_frontTaken = 0;  ///< number of bytes of m_front that read() has returned
  Gate::Pass m_room;             ///< share of memory for the body
  std::size_t m_bodyBytes = 0;   ///< bytes of the body received so far, including chunk framing
  Clock::time_point m_readUntil = Clock::time_point::max();
  ReadFault m_fault = ReadFault::None;
  bool m_closes = false;
  bool m_hasWritten = false;
  std::atomic<bool> m_hasStopped = false;  ///< stopReading() was called
};

/// Returns the connection that this thread serves, or null.
Connection* currentConnection();
void setCurrentConnection(Connection* connection);

/// Returns a context with this certificate chain and key, as PEM files. Throws Failure.
std::shared_ptr<SSL_CTX> tlsContext(const std::string& certificate, const std::string& privateKey);

}  // namespace spanscope::server
