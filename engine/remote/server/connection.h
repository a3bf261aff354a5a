// SPDX-License-Identifier: GPL-3.0-or-later
// The connection of one client, in the clear or by TLS, with its limits.
#pragma once

#include "engine/remote/server/limits.h"
#include "engine/remote/server/request_head.h"

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
#include <utility>

namespace spanscope::server {

/// Limits how much is in use at once. Those that need more than is free wait, and enter in the order in which
/// they came. Any thread may call any function.
class Gate {
 public:
  /// `most`: at least 1, in any unit.
  explicit Gate(std::uint64_t most) : m_most(most) {}

  /// A share that is in use until this object ends. Move-only; an empty one uses nothing.
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
    /// Gives back what is more than `amount`.
    void reduceTo(std::uint64_t amount);

   private:
    friend class Gate;
    Pass(Gate* gate, std::uint64_t amount) : m_gate(gate), m_amount(amount) {}

    Gate* m_gate = nullptr;
    std::uint64_t m_amount = 0;
  };

  /// Waits until `amount` is free and everybody who came earlier has entered. More than the limit counts as
  /// the limit. `gaveUp` is called before and while it waits, about 20 times a second, and must not throw: if
  /// it returns true, the result is an empty pass.
  Pass enter(std::uint64_t amount, const std::function<bool()>& gaveUp);
  /// How many wait.
  std::size_t waiting();

 private:
  void leave(std::uint64_t amount);

  const std::uint64_t m_most;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::uint64_t m_used = 0;
  std::list<std::uint64_t> m_queue;  ///< amounts of those that wait, in order
};

/// What keeps a request from being read.
enum class ReadFault { None, TooSlow, HeadTooLong, BodyTooLong };

/// Every function is of the thread that serves the client, except for end() and stopReading().
class Connection final : public httplib::Stream {
 public:
  /// `tls`: null for a connection in the clear. Closes the socket at its end.
  Connection(int descriptor, SSL_CTX* tls, const ServerLimits& limits);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Makes the connection secure, if it is to be. False: the client does not, or not in time.
  bool greet();
  /// Waits for the first byte of a request. False: there is none; fault() says whether the time was over.
  bool awaitRequest(std::chrono::milliseconds most);
  /// A request begins: from now on, the limits of reading count.
  void beginRequest();
  /// The head of the request, from its first byte to its empty line. Nothing: the client has closed, or
  /// fault() says why.
  std::optional<std::string> readHeadText();
  /// The head of the current request. read() then begins with what the library is to see of it.
  void setHead(RequestHead head);
  const RequestHead& head() const { return m_head; }
  /// The body is read from now on: the time until it must have come begins, and `room` is given back when the
  /// request has ended.
  void beginBody(Gate::Pass room);
  /// The whole body was read; `bytes` is its size.
  void endBody(std::size_t bytes) { m_room.reduceTo(bytes); }
  /// Nothing of the current request is left.
  void endRequest();
  ReadFault fault() const { return m_fault; }
  /// Whether the client has closed its side, so that nobody waits for an answer.
  bool isClientGone() const;
  /// Ends everything that waits for the client, on any thread.
  void end() const;
  /// Waits for no further request; what is written still arrives. On any thread.
  void stopReading();
  /// Closes the sending side: the client sees the end.
  void stopWriting() const;
  /// Closes so that what was written arrives, whatever the client still sends.
  void closeGently();

  /// Nothing more is read as a request after this one.
  void closeAfterwards() { m_closes = true; }
  bool closes() const { return m_closes || m_hasStopped; }
  bool hasWritten() const { return m_hasWritten; }

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* into, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  using Stream::write;
  void get_remote_ip_and_port(std::string& address, int& port) const override;
  void get_local_ip_and_port(std::string& address, int& port) const override;
  /// The library refuses descriptors that select() cannot take; those of this class are given to poll().
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
  Clock::time_point nextByteUntil() const;  ///< when a read gives up

  RequestHead m_head;
  std::string m_front;           ///< what read() yields before the client's bytes
  std::size_t m_frontTaken = 0;  ///< of it
  Gate::Pass m_room;             ///< for the body
  std::size_t m_bodyBytes = 0;   ///< of this request, so far, with the frames of chunks
  Clock::time_point m_readUntil = Clock::time_point::max();
  ReadFault m_fault = ReadFault::None;
  bool m_closes = false;
  bool m_hasWritten = false;
  std::atomic<bool> m_hasStopped = false;  ///< by stopReading()
};

/// The connection that this thread serves; null: none.
Connection* currentConnection();
void setCurrentConnection(Connection* connection);

/// A context with this certificate (with its chain) and key, both PEM. Throws Failure.
std::shared_ptr<SSL_CTX> tlsContext(const std::string& certificate, const std::string& privateKey);

}  // namespace spanscope::server
