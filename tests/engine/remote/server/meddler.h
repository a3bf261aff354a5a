// SPDX-License-Identifier: GPL-3.0-or-later
// A proxy between a client and a server that damages the traffic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace spanscope::server::test {

enum class Fault : std::uint8_t {
  None,
  Cut,      ///< both sides are left
  Stall,    ///< nothing goes through any more
  Flip,     ///< some bytes are others
  Drop,     ///< some bytes are missing
  Repeat,   ///< some bytes come twice
  Trickle,  ///< every byte comes for itself
  Endless   ///< the same bytes again and again, as long as somebody takes them
};

/// What becomes of the bytes that go through.
struct Meddling {
  Fault fault = Fault::None;
  bool ofAnswer = true;   ///< of what the server says; false: of what the client says
  std::size_t at = 0;     ///< from this byte on
  std::size_t count = 1;  ///< bytes that are spoilt
};

/// Takes connections at a port of its own and goes on to the server with each.
class Meddler {
 public:
  explicit Meddler(int serverPort);
  ~Meddler();
  Meddler(const Meddler&) = delete;
  Meddler& operator=(const Meddler&) = delete;

  std::string url() const;
  /// Of connections that come from now on.
  void set(const Meddling& meddling);

 private:
  void accept(const std::stop_token& stop);

  const int m_serverPort;
  int m_listener = -1;
  int m_port = 0;
  std::mutex m_mutex;
  Meddling m_meddling;
  std::vector<std::jthread> m_links;
  std::jthread m_acceptor;
};

}  // namespace spanscope::server::test
