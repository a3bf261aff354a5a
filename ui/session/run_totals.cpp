// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/run_totals.h"

#include <algorithm>

namespace spanscope::ui {
namespace {

const trace::RequestState* stateOf(const ListedRun& run, RequestId request) {
  const auto found = run.progress->requests.find(request);
  return found == run.progress->requests.end() ? nullptr : &found->second;
}

bool isAccounted(const trace::RequestState& request) {
  return !request.reported || request.reported->isCachedKnown();
}

std::int64_t allocatedBlocks(const trace::RequestState& request) {
  return std::count_if(request.blocks.begin(), request.blocks.end(),
                       [](const auto& entry) { return entry.second.allocated; });
}

}  // namespace

metrics::Metered RunMeters::of(const ListedRun& run, RequestId request) {
  const trace::RequestState* const state = stateOf(run, request);
  if (!run.trace || state == nullptr || state->admittedAt < 0) return {};
  Followed& followed = m_followed[run.trace.get()];
  if (followed.trace.lock() != run.trace) {
    followed = {};
    followed.trace = run.trace;
  }
  for (; followed.position < run.position; ++followed.position)
    followed.meters.take(run.trace->event(followed.position));
  return followed.meters.of(request);
}

metrics::Totals totalsOf(const ListedRun& run, RequestId request, RunMeters& meters) {
  metrics::Totals totals;
  const trace::RequestState* const state = stateOf(run, request);
  if (state == nullptr) return totals;
  totals.metered = meters.of(run, request);
  if (isAccounted(*state)) totals.account = accountOf(run, request);
  if (run.trace && !state->reported) totals.allocatedBlocks = allocatedBlocks(*state);
  totals.generatedTokens = state->generatedTokens;
  if (state->metrics) {
    const trace::StepMetrics& metrics = *state->metrics;
    totals.generatedTokens = metrics.generatedTokens;
    if (metrics.generatedTokens > 0) totals.timeToFirstToken = metrics.timeToFirstToken;
    if (metrics.generatedTokens > 1) totals.interTokenLatency = metrics.interTokenLatency;
    totals.queueTime = metrics.queueTime;
  } else if (state->reported) {
    totals.promptTokens = state->reported->promptTokens;
    totals.generatedTokens = state->reported->generatedTokens;
    totals.timeToFirstToken = state->reported->timeToFirstToken;
  }
  return totals;
}

metrics::Totals totalsOf(const ListedRun& run, RunMeters& meters) {
  metrics::Totals totals;
  const trace::RunState& state = run.state();
  const RunValues measured = valuesOf(*run.progress, state);
  totals.generatedTokens = measured.generatedTokens;
  totals.timeToFirstToken = measured.timeToFirstToken;
  totals.interTokenLatency = measured.interTokenLatency;
  totals.whole = measured.whole;
  totals.account = accountOf(run);
  for (const RequestId id : state.requests) {
    const trace::RequestState* const request = stateOf(run, id);
    if (request == nullptr) continue;
    if (!isAccounted(*request)) totals.account.reset();
    if (run.trace) totals.allocatedBlocks = totals.allocatedBlocks.value_or(0) + allocatedBlocks(*request);
    metrics::addTo(totals.metered, meters.of(run, id));
  }
  return totals;
}

}  // namespace spanscope::ui
