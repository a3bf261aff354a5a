// SPDX-License-Identifier: GPL-3.0-or-later
// The list of a server's requests: each request as a query with the events of its run. Open this file to show
// requests in a view.
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
  std::string id{};          ///< the id in the answer: "chatcmpl-…"
  std::string endpoint{};    ///< "/v1/chat/completions"
  std::string model{};       ///< the client's name for the model
  std::string client{};      ///< address
  std::int64_t time = 0;     ///< arrival, milliseconds since 1970
  std::string queryJson{};   ///< canonical; empty if texts are not kept
  RunId run = 0;             ///< 0: it has not begun
  RequestState state = RequestState::Running;
  std::string problem{};               ///< the reason of a failure
  std::vector<trace::Event> events{};  ///< of its run, in order; without texts if these are not kept
  bool isCut = false;                  ///< some events are missing: there were too many
};

/// Receives changes of requests, on the thread of the change. It must return soon, must not throw, and must
/// not call the list.
class ServedListener {
 public:
  virtual ~ServedListener() = default;
  /// A request arrived. It has no events yet.
  virtual void onRequest(const ServedRequest& request) = 0;
  virtual void onEvent(std::uint64_t number, const trace::Event& event) = 0;
  virtual void onEnd(std::uint64_t number, RequestState state, const std::string& problem) = 0;
};

struct ServedLimits {
  std::size_t requests = 64;  ///< max number of kept requests; ended ones are dropped first, from the oldest
  std::uint64_t eventBytes = 16ULL << 20U;  ///< memory for the query and the events of one request
  std::uint64_t allBytes = 128ULL << 20U;   ///< memory for all requests together
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

  /// Returns copies of all kept requests, the oldest first, without their events.
  std::vector<ServedRequest> list() const;
  /// Returns a copy of one request, with its events. A request that was dropped has only its number.
  ServedRequest find(std::uint64_t number) const;

  /// Null: no listener. After the return, the previous listener is not running.
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

/// Returns the event without the texts of prompts and answers. Texts are empty, and token ids are −1, in the
/// same number.
trace::Event withoutTexts(trace::Event event);

}  // namespace spanscope::server
