// SPDX-License-Identifier: GPL-3.0-or-later
// Sends requests to servers. A server may be silent, stall, break off or never end. Each request still ends
// with an answer or an error. The error names the address and the expected data. Open this file to change
// time limits.
//
// Checks the address of a server before the program sends a request. Open this file when an address is
// refused.
//
// Prepares texts of servers for messages, without their keys. Open this file before you show a server's text.
#pragma once

#include "engine/base/error.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::remote {

/// The max time of each phase of a request, and the max size of an answer.
struct HttpLimits {
  std::chrono::milliseconds connect{10'000};
  /// From the connection to the first byte of the answer. A server that computes a long prompt is silent.
  std::chrono::milliseconds firstByte{600'000};
  std::chrono::milliseconds silence{120'000};  ///< between two pieces of an answer
  std::chrono::milliseconds whole{0};          ///< 0: no limit
  std::size_t bytes = std::size_t{64} << 20U;  ///< max size of an answer, uncompressed

  bool operator==(const HttpLimits&) const = default;
};

/// The start of the header line with a bearer token.
inline constexpr char kBearerLine[] = "Authorization: Bearer ";

/// The settings of the connection to a server.
struct HttpAccess {
  std::string key{};                               ///< empty: none
  std::vector<std::string> keyLines{kBearerLine};  ///< the start of each header line with the key
  std::vector<std::string> headLines{};            ///< more header lines of each request
  std::string certificateFile{};  ///< PEM file of trusted certificate authorities; empty: the system's
  HttpLimits limits{};

  bool operator==(const HttpAccess&) const = default;
};

struct HttpReply;

struct HttpRequest {
  std::string url;
  std::optional<std::string> body{};  ///< sent by POST; nothing: GET
  std::string contentType = "application/json";
  std::string query{};  ///< the text after the address and a '?': "stream=true"; may be empty
  /// Called after each piece. If the needed data has arrived, returns the max time for the rest of the
  /// answer, else nothing. After this time the answer counts as complete. Null: the client needs the whole
  /// answer.
  std::function<std::optional<std::chrono::milliseconds>()> patience{};
  bool isHead = false;                ///< asks for the header lines only, by HEAD
  std::vector<std::string> wanted{};  ///< names of header lines for HttpReply::headers.
  /// Called before the first piece of a good answer. If set, status 206 is good too, because the client may
  /// ask for the rest of a file. An exception ends the request.
  std::function<void(const HttpReply& begun)> begins{};
};

struct HttpReply {
  long status = 0;
  std::string body;  ///< the body of an answer with another status than 200 and 201, or without a receiver
  std::string redirect{};                        ///< the target of a status 3xx; usually empty
  std::optional<std::int64_t> retryAfter{};      ///< seconds that the server asks to wait
  std::map<std::string, std::string> headers{};  ///< by HttpRequest::wanted, as far as the answer has them
  bool isStopped = false;
  /// The reason why the connection broke during the answer. The receiver has the earlier pieces. Empty: the
  /// answer is complete.
  std::string brokenBy;
};

/// Receives each piece of an answer with status 200 or 201 (206: HttpRequest::begins) when the piece arrives,
/// uncompressed.
using HttpReceiver = std::function<void(std::string_view piece)>;

/// A client for HTTP and HTTPS. The client follows no redirects, so that a key reaches no other server.
/// Requests to this machine use no proxy. Other requests use the proxy of the environment. Answers may be
/// compressed. No request is sent twice. Connections stay open between requests. Only one thread may use a
/// client.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Sends a request. A stop or an exception of the receiver closes the connection immediately. After a
  /// received piece, a broken connection is no failure (HttpReply::brokenBy). Throws Failure with the address
  /// as its file in these cases:
  /// - The address is invalid (server_address.h).
  /// - The key cannot be sent.
  /// - No connection is made, nothing arrives in time, or the answer is too large.
  HttpReply send(const HttpRequest& request, const HttpAccess& access, const std::stop_token& stop = {},
                 const HttpReceiver& receive = {});

 private:
  struct Connection;
  std::unique_ptr<Connection> m_connection;
};

/// The facts that a program needs about an address before sending a request.
struct ServerAddress {
  std::string host;         ///< a name or a number; an IPv6 address without the brackets
  bool isLoopback = false;  ///< whether the host is this machine: localhost, 127.0.0.0/8 or ::1
};

/// Reads the address of an API, e.g. "http://127.0.0.1:8000/v1". The error has no file. These addresses are
/// refused:
/// - an address that is neither http nor https, or has no host;
/// - an address with a user name or a password, because messages show addresses;
/// - an address with a query or a fragment, because the client appends paths to the address.
std::variant<ServerAddress, Error> readServerAddress(const std::string& url);

/// Returns scheme, host and port of an address in one form, e.g. "https://host:443". Two addresses of one
/// server have the same origin. Empty: the address has none.
std::string originOf(const std::string& url);

/// Max number of characters of a server's answer in a message.
inline constexpr std::size_t kReplyCharacters = 200;

/// Returns a section of an answer for a message: on one line, short, and valid UTF-8.
std::string shownReply(std::string_view text);

/// Returns "The server answered with status 404: TEXT.". `said` is the server's own text, which may be empty.
std::string statusSentence(long status, std::string_view said);

/// Max number of bytes of a server's key.
inline constexpr std::size_t kMostKeyBytes = 4096;

/// Returns the reason why a key cannot be sent. Examples are a control character such as a line break,
/// invalid UTF-8, or a key that is too long. The error has no file and does not contain the key. Nothing: the
/// key can be sent.
std::optional<Error> problemOfKey(std::string_view key);

/// Returns a text of a server without the server's key. The function also removes keys in which JSON writes a
/// slash as "\\/". A key of fewer than 4 bytes is no secret and is not removed.
std::string withoutKey(std::string_view text, std::string_view key);

}  // namespace spanscope::remote
