// SPDX-License-Identifier: GPL-3.0-or-later
// The limits of the server. Open this file to add or change a limit.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace spanscope::server {

/// The limits for the clients of a server. A request beyond a limit gets an error of its own.
struct ServerLimits {
  std::size_t bodyBytes = std::size_t{16} << 20U;  ///< of a request: 413
  std::size_t headBytes = std::size_t{64} << 10U;  ///< of a request line and its headers: 431
  /// Of all bodies above 256 KiB of requests in progress. Further bodies are read when others have ended. A
  /// request takes up to about 50 times the memory of its body.
  std::size_t largeBodyBytes = std::size_t{32} << 20U;
  std::size_t clients = 128;                  ///< connections that are served at the same time; others wait
  std::size_t waitingClients = 512;           ///< clients that wait for a connection: 503
  std::size_t requests = 64;                  ///< requests in progress at the same time; others wait
  std::int32_t answerTokens = 0;              ///< tokens of one answer; 0: the model's context
  std::chrono::milliseconds toRead{20'000};   ///< until a request has arrived completely: 408
  std::chrono::milliseconds toStall{20'000};  ///< until a client reads the written data; then the connection
                                              ///< is closed
  std::chrono::milliseconds toAnswer{600'000};  ///< until an answer is complete: 504
  std::chrono::milliseconds idle{5'000};        ///< max wait of a connection for its next request
  std::chrono::milliseconds toFinish{30'000};   ///< for running answers when the server ends
};

}  // namespace spanscope::server
