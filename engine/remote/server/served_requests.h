// SPDX-License-Identifier: GPL-3.0-or-later
// The list of a server's requests: each request as a query with the events of its run. Open this file to show
// requests in a view.
//
// The metrics of a server, in the text form of Prometheus. The manual lists the names. Open this file to add
// a metric of the server.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/server/engine.h"
#include "engine/trace/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
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
  RunId run = 0;             ///< 0: the run has not begun
  RequestState state = RequestState::Running;
  std::string problem{};  ///< the reason for a failure
  std::vector<trace::Event>
      events{};        ///< events of the run, in order; without texts if the server does not keep texts
  bool isCut = false;  ///< some events are missing because there were too many
};

/// Receives changes of requests, on the thread of the change. The functions must return soon, must not throw,
/// and must not call the list.
class ServedListener {
 public:
  virtual ~ServedListener() = default;
  /// A request has arrived. The request has no events yet.
  virtual void onRequest(const ServedRequest& request) = 0;
  virtual void onEvent(std::uint64_t number, const trace::Event& event) = 0;
  virtual void onEnd(std::uint64_t number, RequestState state, const std::string& problem) = 0;
};

struct ServedLimits {
  std::size_t requests = 64;  ///< max number of kept requests; the oldest ended request is dropped first
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
  /// Returns a copy of one request, with the events. A dropped request has only a number.
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

/// Returns the event without the texts of prompts and answers. All texts are empty, and all token ids are −1.
/// The number of tokens does not change.
trace::Event withoutTexts(trace::Event event);

/// Any thread may call any function.
class ServerMetrics {
 public:
  explicit ServerMetrics(const ServedModel& model);

  /// Counts an answer. `endpoint` is a path of the server, or "other".
  void countAnswer(const std::string& endpoint, int status);
  void countSeconds(double seconds);  ///< duration of a request
  void countGone();                   ///< a client left before the answer
  void setClients(std::size_t clients);
  void setRequests(std::size_t running);
  /// Takes every event of the session.
  void take(const trace::Event& event);

  std::string text() const;

 private:
  /// Numbers of values up to each bound.
  struct Histogram {
    explicit Histogram(std::vector<double> upTo) : bounds(std::move(upTo)), counts(bounds.size()) {}
    void add(double value);

    std::vector<double> bounds;
    std::vector<std::uint64_t> counts;  ///< counts by bound, not cumulative
    std::uint64_t count = 0;
    double sum = 0;
  };
  static void write(std::string& text, const std::string& name, const std::string& help,
                    const Histogram& histogram);

  mutable std::mutex m_mutex;
  std::string m_model;
  std::int64_t m_blocks;
  std::int32_t m_blockSize;
  std::map<std::pair<std::string, int>, std::uint64_t> m_answers;
  std::uint64_t m_gone = 0;
  std::size_t m_clients = 0;
  std::size_t m_running = 0;
  std::uint64_t m_promptTokens = 0;
  std::uint64_t m_cachedTokens = 0;
  std::uint64_t m_relocatedTokens = 0;
  std::uint64_t m_generatedTokens = 0;
  std::uint64_t m_preemptions = 0;
  std::uint64_t m_evictions = 0;
  std::map<BlockId, std::int32_t> m_references;  ///< reference counts of the blocks in use
  Histogram m_firstToken;
  Histogram m_betweenTokens;
  Histogram m_queue;
  Histogram m_seconds;
};

}  // namespace spanscope::server
