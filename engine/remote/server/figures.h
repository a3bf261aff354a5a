// SPDX-License-Identifier: GPL-3.0-or-later
// The metrics of a server, in the text form of Prometheus. The manual lists the names. Open this file to add
// a metric of the server.
#pragma once

#include "engine/base/ids.h"
#include "engine/remote/server/engine.h"
#include "engine/trace/event.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::server {

/// Any thread may call any function.
class Figures {
 public:
  explicit Figures(const ServedModel& model);

  /// Counts an answer. `endpoint` is from the fixed list of paths, or "other".
  void countAnswer(const std::string& endpoint, int status);
  void countSeconds(double seconds);  ///< from the beginning to the end of a request
  void countGone();                   ///< a client left before its answer
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
    std::vector<std::uint64_t> counts;  ///< by bound, not cumulative
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
  std::map<BlockId, std::int32_t> m_references;  ///< of referenced blocks
  Histogram m_firstToken;
  Histogram m_betweenTokens;
  Histogram m_queue;
  Histogram m_seconds;
};

}  // namespace spanscope::server
