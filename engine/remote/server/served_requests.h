// SPDX-License-Identifier: GPL-3.0-or-later
// What a server was asked: each request as a query with the events of its run, for whoever shows them.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spanscope::server {

enum class RequestState : std::uint8_t { Running, Finished, Stopped, Failed };

struct ServedRequest {
  std::uint64_t number = 0;  ///< counts from 1
  std::string id{};          ///< that the client was told: "chatcmpl-…"
  std::string endpoint{};    ///< "/v1/chat/completions"
  std::string model{};       ///< as the client named it
  std::string client{};      ///< address
  std::int64_t time = 0;     ///< when it came, milliseconds since 1970
  std::string queryJson{};   ///< canonical; empty where texts are not kept
  RunId run = 0;             ///< 0: it has not begun
  RequestState state = RequestState::Running;
  std::string problem{};               ///< why it failed
  std::vector<trace::Event> events{};  ///< of its run, in order; without texts where these are not kept
  bool isCut = false;                  ///< events are missing: there were too many
};

/// Is told of requests, on the thread on which it happens. It must return soon, must not throw, and must not
/// call the list.
class ServedListener {
 public:
  virtual ~ServedListener() = default;
  /// A request came; it has no events yet.
  virtual void onRequest(const ServedRequest& request) = 0;
  virtual void onEvent(std::uint64_t number, const trace::Event& event) = 0;
  virtual void onEnd(std::uint64_t number, RequestState state, const std::string& problem) = 0;
};

struct ServedLimits {
  std::size_t requests = 64;                ///< most that are kept; the oldest that have ended go first
  std::uint64_t eventBytes = 16ULL << 20U;  ///< memory for the query and the events of one request
  std::uint64_t allBytes = 128ULL << 20U;   ///< and of all together
};

/// Any thread may call any function.
class ServedRequests {
 public:
  explicit ServedRequests(ServedLimits limits = {}, bool keepsTexts = true)
      : m_limits(limits), m_keepsTexts(keepsTexts) {}

  /// Adds a request that begins, and returns its number.
  std::uint64_t add(ServedRequest request);
  void take(std::uint64_t number, const trace::Event& event);
  void end(std::uint64_t number, RequestState state, std::string problem = {});

  /// Copies of all that are kept, the oldest first, without their events.
  std::vector<ServedRequest> list() const;
  /// A copy of one, with its events; nothing of it is left but its number where it is not kept any more.
  ServedRequest find(std::uint64_t number) const;

  /// Null: nobody listens. The one before is not being called when this returns.
  void setListener(ServedListener* listener);

 private:
  struct Kept {
    ServedRequest request;
    std::uint64_t bytes = 0;
  };
  Kept* kept(std::uint64_t number);
  void makeRoom();

  const ServedLimits m_limits;
  const bool m_keepsTexts;
  mutable std::mutex m_mutex;
  std::deque<Kept> m_requests;  ///< by number, ascending
  std::uint64_t m_last = 0;
  std::uint64_t m_bytes = 0;
  ServedListener* m_listener = nullptr;
};

/// The event without what can be read of prompts and replies: texts are empty, token ids −1, as many as there
/// were.
trace::Event withoutTexts(trace::Event event);

}  // namespace spanscope::server
