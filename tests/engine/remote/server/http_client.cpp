// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/engine/remote/server/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>

namespace spanscope::server::test {
namespace {

using Clock = std::chrono::steady_clock;

/// What a body in chunks holds; `isWhole`: the last chunk is there.
std::string joined(std::string_view chunks, bool& isWhole, std::size_t& used) {
  std::string body;
  const std::size_t all = chunks.size();
  isWhole = false;
  while (true) {
    const std::size_t end = chunks.find("\r\n");
    if (end == std::string_view::npos) break;
    std::size_t size = 0;
    const auto read = std::from_chars(chunks.data(), chunks.data() + end, size, 16);
    if (read.ec != std::errc() || chunks.size() < end + 2 + size + 2) break;
    body += chunks.substr(end + 2, size);
    chunks.remove_prefix(end + 2 + size + 2);
    if (size > 0) continue;
    isWhole = true;
    break;
  }
  used = all - chunks.size();
  return body;
}

}  // namespace

HttpClient::HttpClient(int port) : m_socket(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(m_socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) close();
}

HttpClient::~HttpClient() {
  close();
}

void HttpClient::close() {
  if (m_socket >= 0) ::close(m_socket);
  m_socket = -1;
}

bool HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string HttpClient::read(std::chrono::milliseconds most, std::size_t bytes) {
  pollfd waiting{.fd = m_socket, .events = POLLIN, .revents = 0};
  if (poll(&waiting, 1, static_cast<int>(most.count())) <= 0) return {};
  std::string buffer(bytes, '\0');
  const ssize_t count = recv(m_socket, buffer.data(), buffer.size(), 0);
  buffer.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return buffer;
}

HttpAnswer HttpClient::answer(std::chrono::milliseconds most) {
  const Clock::time_point until = Clock::now() + most;
  std::string& text = m_rest;
  HttpAnswer answer;
  bool isClosed = false;
  while (true) {
    const std::size_t head = text.find("\r\n\r\n");
    if (head != std::string::npos) {
      answer = {};
      answer.status = text.starts_with("HTTP/1.1 ") ? std::atoi(text.c_str() + 9) : -1;
      for (std::size_t line = text.find("\r\n") + 2; line < head;) {
        const std::size_t end = text.find("\r\n", line);
        const std::size_t colon = text.find(": ", line);
        std::string name = text.substr(line, colon - line);
        std::transform(name.begin(), name.end(), name.begin(),
                       [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
        answer.headers[name] = text.substr(colon + 2, end - colon - 2);
        line = end + 2;
      }
      const std::string_view rest = std::string_view(text).substr(head + 4);
      std::size_t used = 0;
      if (answer.headers.contains("content-length")) {
        const auto length = static_cast<std::size_t>(std::atoll(answer.headers["content-length"].c_str()));
        answer.isWhole = rest.size() >= length;
        used = std::min(rest.size(), length);
        answer.body = rest.substr(0, used);
      } else {
        answer.body = joined(rest, answer.isWhole, used);
      }
      if (answer.status == 204) answer.isWhole = true;
      if (answer.isWhole || isClosed) {
        text.erase(0, head + 4 + used);
        return answer;
      }
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (isClosed || left.count() <= 0) return answer;
    const std::string more = read(left);
    if (more.empty()) isClosed = true;
    text += more;
  }
}

std::string requestText(const std::string& method, const std::string& path, const std::string& body,
                        const Headers& headers) {
  std::string text = method + " " + path + " HTTP/1.1\r\n";
  const auto isHost = [](const std::string& header) { return header.starts_with("Host:"); };
  if (std::none_of(headers.begin(), headers.end(), isHost)) text += "Host: localhost\r\n";
  for (const std::string& header : headers) text += header + "\r\n";
  if (!body.empty() || method == "POST") text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + body;
}

HttpAnswer ask(int port, const std::string& method, const std::string& path, const std::string& body,
               const Headers& headers) {
  HttpClient client(port);
  if (!client.isConnected() || !client.send(requestText(method, path, body, headers))) return {};
  return client.answer();
}

std::vector<std::string> eventsIn(const std::string& body) {
  constexpr std::string_view kData = "data: ";
  std::vector<std::string> events;
  for (std::size_t begin = 0; begin < body.size();) {
    const std::size_t end = std::min(body.find("\n\n", begin), body.size());
    const std::string line = body.substr(begin, end - begin);
    if (line.starts_with(kData)) events.push_back(line.substr(kData.size()));
    begin = end + 2;
  }
  return events;
}

}  // namespace spanscope::server::test
