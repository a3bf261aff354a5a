// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/remote/stand_in_server.h"

#include <QTcpServer>
#include <QTcpSocket>
#include <QThread>

#include <nlohmann/json.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace spanscope::remote::test {

namespace {

bool isWhole(const QByteArray& request) {
  const qsizetype end = request.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const qsizetype at = request.indexOf("Content-Length: ");
  if (at < 0) return true;
  const qsizetype lineEnd = request.indexOf('\r', at);
  return request.size() >= end + 4 + request.mid(at + 16, lineEnd - at - 16).toLongLong();
}

}  // namespace

QByteArray http(int status, const QByteArray& body) {
  return "HTTP/1.1 " + QByteArray::number(status) +
         " Some\r\nContent-Type: application/json\r\nContent-Length: " + QByteArray::number(body.size()) +
         "\r\nConnection: close\r\n\r\n" + body;
}

quint16 closedPort() {
  QTcpServer taken;
  return taken.listen(QHostAddress::LocalHost) ? taken.serverPort() : quint16(1);
}

Server::Server(Answer answer, After after) : m_answer(std::move(answer)), m_after(after) {
  m_thread = std::thread([this] { serve(); });
  while (m_port == 0) QThread::msleep(1);
}

Server::Server(QByteArray answer, After after)
    : Server([answer = std::move(answer)](const QByteArray&) { return answer; }, after) {}

Server::~Server() {
  m_ending = true;
  m_thread.join();
}

std::string Server::address() const {
  return "http://127.0.0.1:" + std::to_string(m_port) + "/v1";
}

QByteArray Server::request() const {
  const std::lock_guard lock(m_mutex);
  return m_request;
}

void Server::serve() {
  QTcpServer server;
  server.listen(QHostAddress::LocalHost);
  m_port = server.serverPort();
  while (!m_ending) {
    // Several may have come together.
    if (!server.hasPendingConnections() && !server.waitForNewConnection(10)) continue;
    const std::unique_ptr<QTcpSocket> socket(server.nextPendingConnection());
    QByteArray request;
    while (!m_ending && !isWhole(request)) {
      if (!socket->waitForReadyRead(10) && socket->state() != QAbstractSocket::ConnectedState) break;
      request += socket->readAll();
    }
    {
      const std::lock_guard lock(m_mutex);
      m_request = request;
    }
    ++m_requests;
    const QByteArray answer = m_answer(request);
    if (answer.isEmpty()) {
      while (!m_ending) QThread::msleep(5);
      return;
    }
    socket->write(answer);
    socket->waitForBytesWritten(2000);
    if (m_after == After::Hold) {
      while (!m_ending && socket->state() == QAbstractSocket::ConnectedState) socket->waitForReadyRead(5);
      m_left += m_ending ? 0 : 1;
      continue;
    }
    socket->disconnectFromHost();
    if (socket->state() != QAbstractSocket::UnconnectedState) socket->waitForDisconnected(2000);
  }
}

namespace {

/// Gives connections away as they come.
class Reception : public QTcpServer {
 public:
  explicit Reception(std::function<void(qintptr)> take) : m_take(std::move(take)) {}

 protected:
  void incomingConnection(qintptr descriptor) override { m_take(descriptor); }

 private:
  std::function<void(qintptr)> m_take;
};

}  // namespace

ServerOfMany::ServerOfMany(Server::Answer answer, Server::After after)
    : m_answer(std::move(answer)), m_after(after) {
  m_thread = std::thread([this] { listen(); });
  while (m_port == 0) QThread::msleep(1);
}

ServerOfMany::~ServerOfMany() {
  m_ending = true;
  m_thread.join();
}

std::string ServerOfMany::address() const {
  return "http://127.0.0.1:" + std::to_string(m_port) + "/v1";
}

void ServerOfMany::listen() {
  std::vector<std::thread> threads;
  Reception reception(
      [&](qintptr descriptor) { threads.emplace_back([this, descriptor] { serve(descriptor); }); });
  reception.listen(QHostAddress::LocalHost);
  m_port = reception.serverPort();
  while (!m_ending) reception.waitForNewConnection(5);
  for (std::thread& thread : threads) thread.join();
}

void ServerOfMany::serve(qintptr descriptor) {
  QTcpSocket socket;
  socket.setSocketDescriptor(descriptor);
  QByteArray request;
  while (!m_ending && !isWhole(request)) {
    if (!socket.waitForReadyRead(10) && socket.state() != QAbstractSocket::ConnectedState) return;
    request += socket.readAll();
  }
  const int now = ++m_now;
  for (int most = m_most; most < now && !m_most.compare_exchange_weak(most, now);) {
  }
  const QByteArray answer = m_answer(request);
  --m_now;
  socket.write(answer);
  socket.waitForBytesWritten(2000);
  const bool isHeld = m_after == Server::After::Hold;
  while (isHeld && !m_ending && socket.state() == QAbstractSocket::ConnectedState) socket.waitForReadyRead(5);
  m_left += isHeld && !m_ending ? 1 : 0;
  socket.disconnectFromHost();
  if (socket.state() != QAbstractSocket::UnconnectedState) socket.waitForDisconnected(2000);
}

QByteArray letterVectors(const QByteArray& request, std::size_t dimensions) {
  using Json = nlohmann::json;
  const Json asked = Json::parse(request.mid(request.indexOf("\r\n\r\n") + 4).toStdString());
  Json reply;
  reply["data"] = Json::array();
  for (const Json& text : asked["input"]) {
    std::vector<double> vector(dimensions, 0.0);
    for (const char letter : text.get<std::string>())
      vector[static_cast<unsigned char>(letter) % dimensions] += 1;
    reply["data"].push_back({{"index", reply["data"].size()}, {"embedding", vector}});
  }
  return http(200, QByteArray::fromStdString(reply.dump()));
}

}  // namespace spanscope::remote::test
