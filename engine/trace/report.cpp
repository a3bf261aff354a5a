// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/report.h"

#include "engine/base/counted.h"
#include "engine/base/median.h"
#include "engine/trace/event_fields.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::trace {

namespace {

constexpr double kNanoseconds = 1e9;

void addTo(std::int64_t& sum, std::int64_t value) {
  if (__builtin_add_overflow(sum, value, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

struct RequestSums {
  RequestAdmitted admitted;
  std::int64_t computed = 0;
  std::int64_t generated = 0;
  bool preempted = false;
  bool finished = false;
  std::optional<StepMetrics> metrics;
  std::optional<ServerReported> reported;
};

struct Collector {
  TraceStats& stats;
  const Event& event;
  std::map<RequestId, RequestSums>& requests;
  std::set<RunId>& runs;
  std::int64_t& rows;
  std::map<RunId, std::uint64_t>& leftOut;

  void operator()(const AttentionLeftOut& e) const { leftOut[event.run] = e.leftOut; }
  void operator()(const StepFinished&) const {
    if (event.request != 0) requests[event.request].finished = true;
  }
  void operator()(const BlockLookedUp& e) const {
    // A resumed request mostly finds itself, which says nothing about reuse.
    if (requests[event.request].preempted) return;
    ++stats.blocksLookedUp;
    if (e.outcome == LookupOutcome::Hit) ++stats.blocksHit;
    if (e.outcome == LookupOutcome::Relocated) ++stats.blocksRelocated;
    if (e.outcome == LookupOutcome::Partial) ++stats.blocksPartial;
    if (e.outcome == LookupOutcome::Miss) ++stats.blocksMissed;
  }
  void operator()(const BlockAllocated&) const { ++stats.blocksAllocated; }
  void operator()(const BlockStored&) const { ++stats.blocksStored; }
  void operator()(const BlockRemoved& e) const {
    if (e.reason == RemovalReason::Evicted) ++stats.blocksEvicted;
  }
  void operator()(const BlockCopied&) const { ++stats.blocksCopied; }
  void operator()(const RequestAdmitted& e) const {
    if (event.request == 0) return;
    if (!e.resumed) {
      requests[event.request].admitted = e;
      return;
    }
    addTo(stats.resumedTokens, e.promptTokens);
    addTo(stats.resumedCachedTokens, e.cachedTokens);
    addTo(stats.recomputedTokens, e.recomputedTokens);
  }
  void operator()(const RequestPreempted&) const {
    ++stats.preemptions;
    requests[event.request].preempted = true;
  }
  void operator()(const BatchComputed& e) const {
    ++stats.passes;
    stats.passTime += static_cast<double>(e.nanoseconds) / kNanoseconds;
    for (const BatchEntry& entry : e.entries) {
      addTo(rows, entry.count);
      if (!entry.decode && !entry.repeated && entry.request != 0)
        addTo(requests[entry.request].computed, entry.count);
    }
  }
  void operator()(const TokenGenerated&) const {
    if (event.request != 0) ++requests[event.request].generated;
  }
  void operator()(const StepMetrics& e) const {
    if (event.request != 0) requests[event.request].metrics = e;
  }
  void operator()(const ServerReported& e) const {
    if (event.request != 0) requests[event.request].reported = e;
  }
  void operator()(const MessageLogged& e) const {
    if (e.severity == Severity::Warning) ++stats.warnings;
    if (e.severity == Severity::Error) ++stats.errors;
  }
  void operator()(const Snapshot& e) const { stats.lost += e.lost; }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

std::string describe(const Event& event) {
  std::string out = "#" + std::to_string(event.sequence) + " " +
                    fixedPoint(static_cast<double>(event.time) / kNanoseconds, 6) + "s " +
                    eventName(event.payload);
  if (event.run != 0) out += " run " + std::to_string(event.run);
  if (event.request != 0) out += " request " + std::to_string(event.request);
  if (!event.node.empty()) out += " " + escaped(event.node);
  return out + ": " +
         std::visit([]<class T>(const T& payload) { return std::string(Facts<T>::line(payload)); },
                    event.payload);
}

std::optional<Severity> severityOf(const Event& event) {
  return std::visit([]<class T>(const T& payload) { return Facts<T>::severity(payload); }, event.payload);
}

EventWords wordsOf(const Event& event) {
  return std::visit(
      [&event]<class T>(const T& payload) {
        if constexpr (requires { Facts<T>::words(payload, event); }) return Facts<T>::words(payload, event);
        return EventWords();
      },
      event.payload);
}

const char* plainNameOf(const Event& event) {
  return std::visit([]<class T>(const T& payload) { return Facts<T>::plain(payload); }, event.payload);
}

EventWords detailOf(const Event& event) {
  return std::visit([]<class T>(const T& payload) -> EventWords { return Facts<T>::detail(payload); },
                    event.payload);
}

TraceStats stats(std::span<const Event> events) {
  TraceStats result;
  std::map<RequestId, RequestSums> requests;
  std::set<RunId> runs;
  std::int64_t rows = 0;
  std::map<RunId, std::uint64_t> leftOut;
  HitRates hitRates;
  ResidencySampler residencies;
  TokenAccounts accounts;
  for (const Event& event : events) {
    hitRates.take(event);
    residencies.take(event);
    accounts.take(event.request, event.payload);
    // A request of no run is the replay of another, which was counted.
    const bool isPass = std::holds_alternative<BatchComputed>(event.payload);
    if (event.run == 0 && (event.request != 0 || isPass)) continue;
    if (event.run != 0) runs.insert(event.run);
    if (event.request != 0) requests.try_emplace(event.request);
    std::visit(Collector{result, event, requests, runs, rows, leftOut}, event.payload);
  }
  result.events = events.size();
  result.runs = runs.size();
  result.requests = requests.size();
  result.recent = hitRates.recent().sums();
  result.residency = figuresOf(residencies.evicted());
  for (const auto& [run, missing] : leftOut) result.attentionLeftOut += missing;
  if (!events.empty()) {
    result.duration =
        (static_cast<double>(events.back().time) - static_cast<double>(events.front().time)) / kNanoseconds;
  }
  std::vector<double> firstTokens;
  std::vector<double> latencies;
  for (const auto& [id, request] : requests) {
    if (request.finished) ++result.finishedRequests;
    const StepMetrics sums =
        request.metrics.value_or(StepMetrics{.promptTokens = request.admitted.promptTokens,
                                             .cachedTokens = request.admitted.cachedTokens,
                                             .relocatedTokens = request.admitted.relocatedTokens,
                                             .computedTokens = request.computed,
                                             .generatedTokens = request.generated});
    addTo(result.promptTokens, sums.promptTokens);
    addTo(result.cachedTokens, sums.cachedTokens);
    addTo(result.relocatedTokens, sums.relocatedTokens);
    addTo(result.computedTokens, sums.computedTokens);
    addTo(result.generatedTokens, sums.generatedTokens);
    result.account += accounts.of(id);
    if (request.reported) {
      ++result.servedRequests;
      if (!request.metrics) {
        ++result.unaccountedRequests;
        addTo(result.unaccountedTokens, request.reported->promptTokens.value_or(0));
        addTo(result.generatedTokens, request.reported->generatedTokens.value_or(0));
        if (request.reported->timeToFirstToken) firstTokens.push_back(*request.reported->timeToFirstToken);
      }
    }
    if (request.metrics && sums.generatedTokens >= 1) firstTokens.push_back(sums.timeToFirstToken);
    if (request.metrics && sums.generatedTokens >= 2) latencies.push_back(sums.interTokenLatency);
  }
  if (result.promptTokens > 0) {
    result.hitRate = static_cast<double>(result.cachedTokens) / static_cast<double>(result.promptTokens);
  }
  if (result.passes > 0)
    result.meanRowsPerPass = static_cast<double>(rows) / static_cast<double>(result.passes);
  result.timeToFirstToken = medianOf(std::move(firstTokens)).value_or(0);
  result.interTokenLatency = medianOf(std::move(latencies)).value_or(0);
  return result;
}

}  // namespace spanscope::trace
