// SPDX-License-Identifier: GPL-3.0-or-later
// A server for tests that gives the answers that the test wants.
#pragma once

#include <QByteArray>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace spanscope::remote::test {

/// An HTTP response with this body.
QByteArray http(int status, const QByteArray& body);

/// A port at which no server listens.
quint16 closedPort();

/// Answers one request after the other on a separate thread.
class Server {
 public:
  /// Makes the bytes of a response from a whole request. None: the server sends nothing until it ends.
  using Answer = std::function<QByteArray(const QByteArray& request)>;

  /// What it does once an answer is written.
  enum class After {
    Close,
    Hold  ///< says nothing more until the client or the server ends
  };

  explicit Server(Answer answer, After after = After::Close);
  explicit Server(QByteArray answer, After after = After::Close);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::string address() const;
  /// The last request.
  QByteArray request() const;
  int requests() const { return m_requests; }
  /// Clients that closed the connection while it held it.
  int left() const { return m_left; }

 private:
  void serve();

  Answer m_answer;
  After m_after;
  mutable std::mutex m_mutex;
  QByteArray m_request;
  std::atomic<int> m_requests = 0;
  std::atomic<int> m_left = 0;
  std::atomic<quint16> m_port = 0;
  std::atomic<bool> m_ending = false;
  std::thread m_thread;
};

/// Answers each request on a thread of its own, so that several can wait at the same time.
class ServerOfMany {
 public:
  /// `answer` is called on several threads. After::Hold: as for Server.
  explicit ServerOfMany(Server::Answer answer, Server::After after = Server::After::Close);
  ~ServerOfMany();
  ServerOfMany(const ServerOfMany&) = delete;
  ServerOfMany& operator=(const ServerOfMany&) = delete;

  std::string address() const;
  /// Most requests that were read and not answered at the same time.
  int most() const { return m_most; }
  /// Clients that closed the connection while it held it.
  int left() const { return m_left; }
  /// Whether the server ends: an answer that waits for something must return then.
  bool isEnding() const { return m_ending; }

 private:
  void listen();
  void serve(qintptr descriptor);

  Server::Answer m_answer;
  Server::After m_after;
  std::atomic<int> m_now = 0;
  std::atomic<int> m_most = 0;
  std::atomic<int> m_left = 0;
  std::atomic<quint16> m_port = 0;
  std::atomic<bool> m_ending = false;
  std::thread m_thread;
};

/// A response with one vector of `dimensions` numbers for each text, in which every letter counts.
QByteArray letterVectors(const QByteArray& request, std::size_t dimensions = 26);

}  // namespace spanscope::remote::test
