// SPDX-License-Identifier: GPL-3.0-or-later
// A client that can also misbehave: it sends exactly the bytes that the test sets.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::server::test {

struct HttpAnswer {
  int status = 0;                              ///< 0: no whole answer came
  std::map<std::string, std::string> headers;  ///< names in small letters
  std::string body;                            ///< without the frames of chunks
  bool isWhole = false;                        ///< as long as the head says
};

/// One connection to 127.0.0.1.
class HttpClient {
 public:
  explicit HttpClient(int port);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  bool isConnected() const { return m_socket >= 0; }
  /// False: the server has closed the connection.
  bool send(std::string_view bytes);
  /// Reads incoming bytes for this time, up to this number; empty: nothing came, or the server closed.
  std::string read(std::chrono::milliseconds most, std::size_t bytes = 65536);
  /// Reads one answer.
  HttpAnswer answer(std::chrono::milliseconds most = std::chrono::seconds(20));
  void close();

 private:
  int m_socket = -1;
  std::string m_rest;  ///< read, and not part of an answer that was taken
};

using Headers = std::vector<std::string>;  ///< "Name: value"
std::string requestText(const std::string& method, const std::string& path, const std::string& body,
                        const Headers& headers = {});
/// One request on a connection of its own.
HttpAnswer ask(int port, const std::string& method, const std::string& path, const std::string& body = {},
               const Headers& headers = {});

/// The data of each event of a stream, "[DONE]" included.
std::vector<std::string> eventsIn(const std::string& body);

}  // namespace spanscope::server::test
