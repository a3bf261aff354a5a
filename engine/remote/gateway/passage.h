// SPDX-License-Identifier: GPL-3.0-or-later
// Passes one request to an upstream server, and passes the answer to the client. Either side can be slow or
// close its connection at any time. Open this file when an answer is delayed or incomplete.
#pragma once

#include "engine/remote/gateway/upstream_link.h"
#include "engine/remote/server/answer.h"
#include "engine/remote/server/connection.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace spanscope::gateway {

/// A whole request of a client.
struct PassedRequest {
  std::string head;        ///< as sent, with its empty line
  std::string bodyBytes;   ///< as sent, with the framing of chunks
  std::string body;        ///< the content
  bool isChanged = false;  ///< `body` replaces the sent body
};

/// How the head of a request is written for an upstream server.
struct UpstreamTarget {
  std::string host;       ///< for the field Host: "gpu-3:8000"
  std::string target;     ///< path and query
  std::string key{};      ///< empty: none
  bool passesKey = true;  ///< whether the client's Authorization is passed on
};

/// Returns the bytes for an upstream server. Header fields keep their order and bytes, except the fields of
/// one connection, Host and Expect.
std::string bytesFor(const PassedRequest& request, const server::RequestHead& head,
                     const UpstreamTarget& target);

/// Reads the body of a client's request. Returns false if the client broke off, or if Connection::fault() has
/// the reason. Throws ApiFailure with 413 for a body of more than `mostBytes`, and with 400 for damaged
/// chunks.
bool readBody(server::Connection& client, std::size_t mostBytes, PassedRequest& request);

/// Receives each piece after the passage has sent this piece. The functions are called on the thread of the
/// client's connection, and must not throw.
class PassageWatcher {
 public:
  virtual ~PassageWatcher() = default;
  /// The upstream server has the whole request.
  virtual void sent() = 0;
  /// The upstream server has not answered yet. Called about 20 times a second.
  virtual void waits() {}
  virtual void begun(const UpstreamHead& head) = 0;
  /// Content of the answer, without the framing of chunks.
  virtual void came(std::string_view content) = 0;
};

struct PassageEnd {
  enum class How { Answered, ClientGone, UpstreamBroke, Interrupted };
  How how = How::Answered;
  std::string problem{};       ///< for the user; empty for Answered
  bool keepsClient = true;     ///< whether the client's connection can get another request
  bool keepsUpstream = false;  ///< whether the upstream link can get another request
};

struct PassageRules {
  remote::HttpLimits limits{};
  std::string upstream;                   ///< name for errors
  std::vector<std::string> extraLines{};  ///< more header lines of the answer
  bool isHead = false;                    ///< the request is HEAD
  bool closes = false;                    ///< the client's connection ends after the answer
  /// Returns the error that ends the passage early. Checked about 20 times a second. May be empty.
  std::function<std::optional<server::ApiError>()> interruption{};
};

/// Returns the error for an answer that ends early.
server::ApiError brokenAnswer(const std::string& upstream, const std::string& problem);

/// The upstream server closed an idle connection before the request arrived. Another connection can carry the
/// request.
struct StaleLink {};

/// Sends `bytes` and passes the answer on. A stream of events ends with an error event if the upstream server
/// breaks off. Small answers with a length are passed only when they are complete. Before the first
/// byte for the client, throws Failure if the upstream server breaks off, and ApiFailure for an interruption.
/// Throws StaleLink for a reused link that was closed.
PassageEnd pass(server::Connection& client, UpstreamLink& link, std::string_view bytes,
                const PassageRules& rules, PassageWatcher& watcher);

}  // namespace spanscope::gateway
