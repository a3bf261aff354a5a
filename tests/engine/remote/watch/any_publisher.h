// SPDX-License-Identifier: GPL-3.0-or-later
// Publishes KV events for tests, with any numbers and times.
#pragma once

#include <zmq.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::watch {

/// Publishes the messages that a test wants, with any numbers.
class Publisher {
 public:
  /// `keeps`: what the replay endpoint has at first.
  Publisher(const std::string& endpoint, const std::string& replay,
            std::map<std::uint64_t, std::string> keeps = {})
      : kept(std::move(keeps)), m_context(zmq_ctx_new()), m_pub(zmq_socket(m_context, ZMQ_PUB)) {
    zmq_bind(m_pub, endpoint.c_str());
    if (replay.empty()) return;
    m_thread = std::jthread([this, replay](const std::stop_token& stop) { answer(replay, stop); });
  }
  ~Publisher() {
    m_thread = {};
    const int none = 0;
    zmq_setsockopt(m_pub, ZMQ_LINGER, &none, sizeof none);
    zmq_close(m_pub);
    zmq_ctx_term(m_context);
  }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  void send(std::uint64_t number, const std::string& payload) {
    const std::string bytes = numberBytes(number);
    zmq_send(m_pub, "t", 1, ZMQ_SNDMORE);
    zmq_send(m_pub, bytes.data(), bytes.size(), ZMQ_SNDMORE);
    zmq_send(m_pub, payload.data(), payload.size(), 0);
  }
  /// What the replay endpoint has.
  std::map<std::uint64_t, std::string> kept;
  std::atomic<int> asked = 0;
  /// If not 0, each answer lacks every message whose number + 1 is a multiple, until the request after the
  /// messages before it came.
  std::uint64_t dropsEvery = 0;

  static std::string numberBytes(std::uint64_t number) {
    std::string bytes(8, '\0');
    for (std::size_t i = 8; i-- > 0; number >>= 8U) bytes[i] = static_cast<char>(number & 255U);
    return bytes;
  }

 private:
  void answer(const std::string& endpoint, const std::stop_token& stop) {
    void* router = zmq_socket(m_context, ZMQ_ROUTER);
    zmq_bind(router, endpoint.c_str());
    while (!stop.stop_requested()) {
      zmq_pollitem_t item{.socket = router, .fd = 0, .events = ZMQ_POLLIN, .revents = 0};
      if (zmq_poll(&item, 1, 5) <= 0) continue;
      std::vector<std::string> frames;
      int more = 1;
      while (more != 0) {
        char buffer[256];
        const int size = zmq_recv(router, buffer, sizeof buffer, 0);
        frames.emplace_back(buffer, static_cast<std::size_t>(size));
        std::size_t length = sizeof more;
        zmq_getsockopt(router, ZMQ_RCVMORE, &more, &length);
      }
      ++asked;
      const auto reply = [&](const std::string& topic, const std::string& number,
                             const std::string& payload) {
        zmq_send(router, frames[0].data(), frames[0].size(), ZMQ_SNDMORE);
        zmq_send(router, "", 0, ZMQ_SNDMORE);
        zmq_send(router, topic.data(), topic.size(), ZMQ_SNDMORE);
        zmq_send(router, number.data(), number.size(), ZMQ_SNDMORE);
        zmq_send(router, payload.data(), payload.size(), 0);
      };
      for (const auto& [number, payload] : kept) {
        if (numberBytes(number) < frames[2] || (dropsEvery > 0 && number % dropsEvery == dropsEvery - 1 &&
                                                asked <= static_cast<int>(number / dropsEvery)))
          continue;
        reply("t", numberBytes(number), payload);
      }
      reply("", std::string(8, '\xFF'), "");
    }
    const int none = 0;
    zmq_setsockopt(router, ZMQ_LINGER, &none, sizeof none);
    zmq_close(router);
  }

  void* m_context;
  void* m_pub;
  std::jthread m_thread;
};

}  // namespace spanscope::watch
