// SPDX-License-Identifier: GPL-3.0-or-later
// Meters measure what one request cannot say alone: they follow all events of a session.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace spanscope::metrics {

struct Metric;

/// Gives one number for each request. It never changes after it is given.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;
  /// Events come in order. They may contradict each other, as those of a damaged file do.
  virtual void take(const trace::Event& event) = 0;

  /// Nothing: the events do not say it.
  std::optional<double> of(RequestId request) const;

 protected:
  void give(RequestId request, double value) { m_values.try_emplace(request, value); }

 private:
  std::map<RequestId, double> m_values;
};
using MakeMeter = std::unique_ptr<Meter> (*)();

/// What meters say of a request or a run, by the id of the metric.
using Metered = std::map<std::string_view, double>;
/// Adds what another request of the same run has, later than the others.
void addTo(Metered& metered, const Metered& later);

/// One meter for each metric of the table that has one. They can be moved, not copied.
class Meters {
 public:
  Meters();
  void take(const trace::Event& event);
  Metered of(RequestId request) const;
  /// Of all these requests: their sum, or what the last of them has (Over).
  Metered of(std::span<const RequestId> requests) const;

 private:
  std::vector<std::pair<const Metric*, std::unique_ptr<Meter>>> m_meters;
};

/// The hit rate of the newest requests (trace::HitRates) after the request was admitted, 0 … 1.
std::unique_ptr<Meter> recentHitRate();
/// How many tokens of a prompt a stock prefix cache would have found. It is a cache of its own:
/// - It has the session's block size and as many blocks as the pool. It keeps full blocks alone.
/// - A prompt is one sequence: its visible tokens in prompt order. A block is found if all blocks before it
/// are.
/// - The last token of a prompt is always computed.
/// - A prompt can be found from the first token of its answer on, the answer from the end of its step on.
/// - The least recently used block is evicted first.
/// No value: the session began with a pool that was not empty, or events are missing.
std::unique_ptr<Meter> prefixEquivalent();

}  // namespace spanscope::metrics
