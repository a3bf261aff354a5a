// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/run_metrics_sink.h"

#include "engine/trace/replay.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::experiment {
namespace {

/// One run alone does not determine the state of the pool. A replay without pool events still has the right
/// state of runs and requests.
bool isOfPool(const trace::Payload& payload) {
  return std::visit(
      []<class T>(const T&) {
        return std::is_same_v<T, trace::SessionStarted> || std::is_same_v<T, trace::BlockLookedUp> ||
               std::is_same_v<T, trace::BlockAllocated> || std::is_same_v<T, trace::BlockShared> ||
               std::is_same_v<T, trace::BlockStored> || std::is_same_v<T, trace::BlockRemoved> ||
               std::is_same_v<T, trace::BlockCopied> || std::is_same_v<T, trace::BlockReleased> ||
               std::is_same_v<T, trace::CacheCleared>;
      },
      payload);
}

/// Returns the time to first token of the last step in the plan.
std::optional<double> lastFirstToken(const trace::Progress& progress, const trace::RunState& run) {
  const trace::StepMetrics* last = nullptr;
  for (const RequestId id : run.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end() || !found->second.metrics) continue;
    const trace::StepMetrics& metrics = *found->second.metrics;
    if (last == nullptr || metrics.step >= last->step) last = &metrics;
  }
  if (last == nullptr || last->generatedTokens == 0) return std::nullopt;
  return last->timeToFirstToken;
}

}  // namespace

RunMetricsSink::RunMetricsSink() : m_start(Clock::now()) {}

std::uint64_t RunMetricsSink::send(RunId run, RequestId request, const NodePath& node,
                                   trace::Payload payload) {
  ++m_sequence;
  countBlocks(payload);
  if (isOfPool(payload)) return m_sequence;
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - m_start);
  m_events.push_back({.sequence = m_sequence,
                      .time = time.count(),
                      .session = 1,
                      .run = run,
                      .request = request,
                      .node = node,
                      .payload = std::move(payload)});
  return m_sequence;
}

void RunMetricsSink::countBlocks(const trace::Payload& payload) {
  if (std::holds_alternative<trace::BlockAllocated>(payload)) {
    ++m_held;
  } else if (const auto* shared = std::get_if<trace::BlockShared>(&payload)) {
    if (shared->references == 1) ++m_held;
  } else if (const auto* released = std::get_if<trace::BlockReleased>(&payload)) {
    if (released->references == 0) --m_held;
  }
  m_peak = std::max(m_peak, m_held);
}

RunSample RunMetricsSink::take() {
  trace::Replay replay;
  for (const trace::Event& event : m_events) replay.apply(event);
  m_events.clear();
  RunSample sample;
  sample.peakBlocks = std::exchange(m_peak, m_held);
  const trace::Progress& progress = replay.progress();
  if (progress.runs.empty()) return sample;
  const trace::RunState& run = std::prev(progress.runs.end())->second;
  sample.measured = metrics::valuesOf(progress, run);
  sample.lastTimeToFirstToken = lastFirstToken(progress, run);
  sample.answer = run.answer;
  return sample;
}

}  // namespace spanscope::experiment
