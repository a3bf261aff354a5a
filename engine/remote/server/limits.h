// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace spanscope::server {

/// How much a server lets its clients ask for. What goes beyond is refused with an error of its own.
struct ServerLimits {
  std::size_t bodyBytes = std::size_t{16} << 20U;  ///< of a request: 413
  std::size_t headBytes = std::size_t{64} << 10U;  ///< of a request line and its headers: 431
  /// Of all bodies of more than 256 KiB of requests at work; further ones are read when others have ended. A
  /// request takes up to some 50 times the memory of its body.
  std::size_t largeBodyBytes = std::size_t{32} << 20U;
  std::size_t clients = 128;                    ///< connections that are served at once; others wait
  std::size_t waitingClients = 512;             ///< that wait for one of these to end: 503
  std::size_t requests = 64;                    ///< at work at once; others wait for their turn
  std::int32_t replyTokens = 0;                 ///< of one reply; 0: the model's context
  std::chrono::milliseconds toRead{20'000};     ///< until a request has come whole: 408
  std::chrono::milliseconds toStall{20'000};    ///< until a client takes what is written; then it is left
  std::chrono::milliseconds toAnswer{600'000};  ///< until an answer is complete: 504
  std::chrono::milliseconds idle{5'000};        ///< that a connection may wait for its next request
  std::chrono::milliseconds toFinish{30'000};   ///< for answers that run when the server is to end
};

}  // namespace spanscope::server
