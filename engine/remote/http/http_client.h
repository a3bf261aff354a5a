// SPDX-License-Identifier: GPL-3.0-or-later
// Requests to servers. Whatever a server does - says nothing, stalls, breaks off, never ends - they end with
// an answer or with an error that names the address and what was waited for.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::remote {

/// How long each phase of a request may take, and how much may come.
struct HttpLimits {
  std::chrono::milliseconds connect{10'000};
  /// From the connection to the first byte of the answer: a server that computes a long prompt says nothing.
  std::chrono::milliseconds firstByte{600'000};
  std::chrono::milliseconds silence{120'000};  ///< between two pieces of an answer
  std::chrono::milliseconds whole{0};          ///< 0: no limit
  std::size_t bytes = std::size_t{64} << 20U;  ///< of an answer, unpacked

  bool operator==(const HttpLimits&) const = default;
};

/// What is before a bearer token in the head of a request.
inline constexpr char kBearerLine[] = "Authorization: Bearer ";

/// How a server is reached.
struct HttpAccess {
  std::string key{};                               ///< empty: none
  std::vector<std::string> keyLines{kBearerLine};  ///< what is before the key, in each line that has it
  std::vector<std::string> headLines{};            ///< of each request, besides
  std::string certificateFile{};                   ///< PEM of the authorities to trust; empty: the system's
  HttpLimits limits{};

  bool operator==(const HttpAccess&) const = default;
};

struct HttpRequest {
  std::string url;
  std::optional<std::string> body{};  ///< sent by POST; none: GET
  std::string contentType = "application/json";
  std::string query{};  ///< what follows the address and a '?': "stream=true"; empty: nothing does
  /// Asked after each piece: how much longer the rest of a reply may take, since what is wanted of it has
  /// come; nothing: it has not. The reply is whole then, however it ends. Null: it is wanted to its end.
  std::function<std::optional<std::chrono::milliseconds>()> patience{};
};

struct HttpReply {
  long status = 0;
  std::string body;        ///< of an answer with another status than 200 and 201, or if nobody receives it
  std::string redirect{};  ///< where a status 3xx sends the client; mostly empty
  std::optional<std::int64_t> retryAfter{};  ///< seconds that the server asks to wait
  bool isStopped = false;
  /// Why the answer ended before its end; the pieces that came were received. Empty: it did not.
  std::string brokenBy;
};

/// Takes pieces of an answer with status 200 or 201 as they come, unpacked.
using HttpReceiver = std::function<void(std::string_view piece)>;

/// Only http and https; no redirects are followed, so that a key goes nowhere else; requests to this machine
/// use no proxy, others those of the environment; answers may be compressed. Nothing is ever sent a second
/// time. Connections are kept open from request to request. Used by one thread.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Throws Failure with the address as its file: for an address that is none (server_address.h), for a key
  /// that cannot be sent, if no connection comes about, nothing comes in time or too much comes. Once a piece
  /// was received, a break is no failure (HttpReply::brokenBy). A stop closes the connection at once; what
  /// the receiver throws too.
  HttpReply send(const HttpRequest& request, const HttpAccess& access, const std::stop_token& stop = {},
                 const HttpReceiver& receive = {});

 private:
  struct Connection;
  std::unique_ptr<Connection> m_connection;
};

}  // namespace spanscope::remote
