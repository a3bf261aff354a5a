// SPDX-License-Identifier: GPL-3.0-or-later
// What the server of the embedded engine and the gateway share: the address, who may use it, how many
// requests run at the same time, and how the server ends. Open this file to change the common rules of both.
#pragma once

#include "engine/remote/server/access.h"
#include "engine/remote/server/answer.h"
#include "engine/remote/server/connection.h"
#include "engine/remote/server/listener.h"
#include "engine/remote/server/served_requests.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace spanscope::server {

struct AddressConfig {
  std::string host = "127.0.0.1";   ///< a name or an address to listen on
  int port = 8000;                  ///< 0: any free port
  std::vector<std::string> keys{};  ///< keys of clients; empty: clients need no key
  std::filesystem::path certificate{};
  std::filesystem::path privateKey{};
  std::vector<std::string> hosts{};    ///< as AccessRules::hosts
  std::vector<std::string> origins{};  ///< as AccessRules::origins
  bool keepsTexts = true;              ///< false: no texts in the list of requests and in its events
  ServerLimits limits{};
  ServedLimits served{};
};

inline constexpr int kClientGone = 499;  ///< only the metrics count this status; no client gets it
/// The time between two checks of a wait.
inline constexpr std::chrono::milliseconds kCheckPeriod{50};
/// Requests with a body of up to this number of bytes do not wait for memory.
inline constexpr std::size_t kSmallBody = std::size_t{256} << 10U;

/// An open address with its clients. The functions may be called on any thread.
class ServedAddress {
 public:
  using Clock = std::chrono::steady_clock;

  /// Opens the address. `config` must outlive this object. Throws Failure in these cases:
  /// - The address cannot be opened.
  /// - The certificate and the private key do not match.
  /// - The address is not a loopback address, and keys or TLS are missing.
  explicit ServedAddress(const AddressConfig& config);

  std::string url() const;  ///< "http://127.0.0.1:8000"
  int port() const { return m_port; }

  /// Throws ApiFailure (403) for another host name, and for a web page that may not use the server.
  void checkOrigin(const RequestHead& head) const;
  /// Throws ApiFailure (401) if the request needs a key that the server knows.
  void checkKey(const RequestHead& head) const;

  /// Returns the error that ends a wait for the answer before the run ends. Nothing: the wait continues.
  /// `client`: may be null.
  std::optional<ApiError> interruption(const Connection* client, Clock::time_point began) const;
  /// Waits until the client's request can begin. Throws ApiFailure if the wait ends earlier.
  Gate::Pass awaitTurn(const Connection* client) { return enter(m_turns, client, 1); }
  /// Returns the max size of the request's body in bytes.
  std::uint64_t bodyBytes(const RequestHead& head) const {
    return head.isChunked ? m_config.limits.bodyBytes : head.length;
  }
  /// Waits for the memory of a body of this size. A small body does not wait. Throws ApiFailure if the wait
  /// ends earlier.
  Gate::Pass awaitBody(const Connection* client, std::uint64_t bytes) {
    return bytes > kSmallBody ? enter(m_largeBodies, client, bytes) : Gate::Pass();
  }
  /// Returns the number of requests that wait for the memory of a body.
  std::size_t waitingBodies() { return m_largeBodies.waiting(); }

  /// Refuses new requests with 503. Running requests can finish until the time limit or until `hurry`. Then
  /// interruption() ends the remaining requests, and all connections end.
  void finish(const std::stop_token& hurry);
  bool isDraining() const { return m_isDraining; }
  /// From now on, interruption() ends all requests.
  void hurryUp() { m_isHurrying = true; }

  const KeyRing keys;
  ServedRequests requests;
  std::atomic<std::size_t> running = 0;  ///< requests in progress

 private:
  Gate::Pass enter(Gate& gate, const Connection* client, std::uint64_t amount) const;

  const AddressConfig& m_config;
  const AccessRules m_access;
  const bool m_isSecure;
  Gate m_turns;        ///< limits the requests in progress
  Gate m_largeBodies;  ///< bytes
  std::atomic<bool> m_isDraining = false;
  std::atomic<bool> m_isHurrying = false;

 public:
  Listener listener;

 private:
  const int m_port;
};

}  // namespace spanscope::server
