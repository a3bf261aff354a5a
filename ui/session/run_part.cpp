// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_part.h"

#include "engine/trace/event_fields.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

bool touchesPool(const trace::Payload& payload) {
  return std::visit([]<class T>(const T&) { return trace::Facts<T>::kPool != trace::PoolEffect::None; },
                    payload);
}

/// Takes the events of a trace in order and keeps the events of a run.
class RunPart {
 public:
  RunPart(const TraceStore& trace, RunId run) : m_trace(trace), m_run(run) {}

  void begin(trace::Event event) { m_events.push_back(std::move(event)); }
  void add(const trace::Event& event, bool isInProgress) {
    std::optional<trace::Event> own = partOf(event, isInProgress);
    if (!own) {
      ++m_leftOut;
      return;
    }
    own->sequence -= m_leftOut;
    if (std::holds_alternative<trace::BlockRemoved>(own->payload)) m_removals[event.sequence] = own->sequence;
    if (auto* lookup = std::get_if<trace::BlockLookedUp>(&own->payload)) {
      const auto removal = m_removals.find(lookup->evictedBy);
      if (removal != m_removals.end()) lookup->evictedBy = removal->second;
    }
    m_events.push_back(std::move(*own));
  }
  std::vector<trace::Event> take() { return std::move(m_events); }

 private:
  bool isOwn(RequestId request) const {
    const RequestEvents* events = m_trace.request(request);
    return events != nullptr && events->run == m_run;
  }

  std::optional<trace::Event> partOf(const trace::Event& event, bool isInProgress) const {
    if (const auto* pass = std::get_if<trace::BatchComputed>(&event.payload)) {
      trace::BatchComputed own = *pass;
      std::erase_if(own.entries, [this](const trace::BatchEntry& entry) { return !isOwn(entry.request); });
      if (own.entries.empty()) return std::nullopt;
      trace::Event part = event;
      part.run = m_run;
      part.payload = std::move(own);
      return part;
    }
    const bool touches = touchesPool(event.payload);
    if (!isInProgress) return event.run == m_run && !touches ? std::optional(event) : std::nullopt;
    if (event.run == m_run) return event;
    const bool isOfSession = event.run == 0 && event.request == 0;
    if (!touches && !isOfSession) return std::nullopt;
    trace::Event part = event;
    part.request = 0;
    part.node.clear();
    return part;
  }

  const TraceStore& m_trace;
  RunId m_run;
  std::vector<trace::Event> m_events;
  std::uint64_t m_leftOut = 0;
  std::map<std::uint64_t, std::uint64_t> m_removals;  ///< sequence numbers of BlockRemoved events: from
                                                      ///< number in the trace to number in the part
};

}  // namespace

std::vector<trace::Event> runPart(const TraceStore& trace, RunId run) {
  const std::optional<std::size_t> first = trace.startOf(run);
  if (!first) return {};
  const std::size_t end = trace.endOf(run);
  RunPart part(trace, run);
  if (*first > 0) part.begin(trace.beginningAt(*first));
  for (std::size_t i = *first; i < trace.size(); ++i) part.add(trace.event(i), i < end);
  return part.take();
}

}  // namespace spanscope::ui
