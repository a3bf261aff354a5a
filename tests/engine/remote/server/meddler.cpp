// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/remote/server/meddler.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace spanscope::server::test {
namespace {

constexpr int kTurnMilliseconds = 20;

class Socket {
 public:
  explicit Socket(int handle) : m_handle(handle) {}
  ~Socket() {
    if (m_handle >= 0) ::close(m_handle);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int handle() const { return m_handle; }

 private:
  const int m_handle;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// False: nobody takes it any more.
bool sendAll(int to, std::string_view bytes, const std::stop_token& stop) {
  while (!bytes.empty()) {
    if (stop.stop_requested()) return false;
    pollfd ready{.fd = to, .events = POLLOUT, .revents = 0};
    if (poll(&ready, 1, kTurnMilliseconds) == 0) continue;
    const ssize_t count = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// One direction of a connection.
class Stream {
 public:
  Stream(int to, const Meddling& meddling) : m_to(to), m_meddling(meddling) {}

  /// False: the connection is to be left.
  bool pass(std::string bytes, const std::stop_token& stop) {
    const std::size_t begin = m_passed;
    m_passed += bytes.size();
    if (m_isStalled) return true;
    if (m_meddling.fault == Fault::None || m_passed <= m_meddling.at) return sendAll(m_to, bytes, stop);
    const std::size_t at = m_meddling.at > begin ? m_meddling.at - begin : 0;
    const std::size_t count = std::min(m_meddling.count, bytes.size() - at);
    switch (m_meddling.fault) {
      case Fault::None:
        break;
      case Fault::Cut:
        sendAll(m_to, std::string_view(bytes).substr(0, at), stop);
        return false;
      case Fault::Stall:
        m_isStalled = true;
        bytes.resize(at);
        break;
      case Fault::Flip:
        for (std::size_t i = at; i < at + count; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x15);
        m_meddling.fault = Fault::None;
        break;
      case Fault::Drop:
        bytes.erase(at, count);
        m_meddling.fault = Fault::None;
        break;
      case Fault::Repeat:
        bytes.insert(at, bytes.substr(at, count));
        m_meddling.fault = Fault::None;
        break;
      case Fault::Trickle:
        for (const char& one : bytes) {
          if (!sendAll(m_to, std::string_view(&one, 1), stop)) return false;
        }
        return true;
      case Fault::Endless:
        if (!sendAll(m_to, bytes, stop)) return false;
        while (sendAll(m_to, std::string_view(bytes).substr(at), stop)) continue;
        return false;
    }
    return sendAll(m_to, bytes, stop);
  }

 private:
  const int m_to;
  Meddling m_meddling;
  std::size_t m_passed = 0;
  bool m_isStalled = false;
};

void link(int clientHandle, int serverPort, const Meddling& meddling, const std::stop_token& stop) {
  const Socket client(clientHandle);
  const Socket server(socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = loopback(serverPort);
  if (connect(server.handle(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
  Stream asked(server.handle(), meddling.ofAnswer ? Meddling{} : meddling);
  Stream answered(client.handle(), meddling.ofAnswer ? meddling : Meddling{});
  std::array<char, 4096> buffer{};
  while (!stop.stop_requested()) {
    std::array<pollfd, 2> ends{pollfd{.fd = client.handle(), .events = POLLIN, .revents = 0},
                               pollfd{.fd = server.handle(), .events = POLLIN, .revents = 0}};
    poll(ends.data(), ends.size(), kTurnMilliseconds);
    for (const pollfd& end : ends) {
      if (end.revents == 0) continue;
      const ssize_t count = recv(end.fd, buffer.data(), buffer.size(), 0);
      if (count <= 0) return;
      Stream& stream = end.fd == client.handle() ? asked : answered;
      if (!stream.pass(std::string(buffer.data(), static_cast<std::size_t>(count)), stop)) return;
    }
  }
}

}  // namespace

Meddler::Meddler(int serverPort)
    : m_serverPort(serverPort), m_listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  bind(m_listener, reinterpret_cast<const sockaddr*>(&address), size);
  listen(m_listener, 128);
  getsockname(m_listener, reinterpret_cast<sockaddr*>(&address), &size);
  m_port = ntohs(address.sin_port);
  m_acceptor = std::jthread([this](const std::stop_token& stop) { accept(stop); });
}

Meddler::~Meddler() {
  m_acceptor.request_stop();
  m_acceptor.join();
  m_links.clear();
  ::close(m_listener);
}

std::string Meddler::url() const {
  return "http://127.0.0.1:" + std::to_string(m_port);
}

void Meddler::set(const Meddling& meddling) {
  const std::lock_guard lock(m_mutex);
  m_meddling = meddling;
}

void Meddler::accept(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    pollfd coming{.fd = m_listener, .events = POLLIN, .revents = 0};
    if (poll(&coming, 1, kTurnMilliseconds) <= 0) continue;
    const int client = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const std::lock_guard lock(m_mutex);
    m_links.emplace_back([client, port = m_serverPort, meddling = m_meddling](const std::stop_token& ending) {
      link(client, port, meddling, ending);
    });
  }
}

}  // namespace spanscope::server::test
