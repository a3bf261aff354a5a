// SPDX-License-Identifier: GPL-3.0-or-later
// The limits of the server. Open this file to add or change a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

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

}  // namespace spanscope::server
