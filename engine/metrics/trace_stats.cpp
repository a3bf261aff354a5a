// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/trace_stats.h"

#include "engine/base/counted.h"
#include "engine/base/median.h"
#include "engine/base/saturated.h"
#include "engine/metrics/metric_table.h"
#include "engine/trace/line_pieces.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::metrics {
namespace {

constexpr double kNanoseconds = 1e9;

struct RequestSums {
  trace::RequestAdmitted admitted;
  std::int64_t computed = 0;
  std::int64_t generated = 0;
  bool preempted = false;
  bool finished = false;
  std::optional<trace::StepMetrics> metrics;
  std::optional<trace::ServerReported> reported;
};

struct Collector {
  TraceStats& stats;
  const trace::Event& event;
  std::map<RequestId, RequestSums>& requests;
  std::set<RunId>& runs;
  std::int64_t& rows;
  std::map<RunId, std::uint64_t>& leftOut;

  void operator()(const trace::AttentionLeftOut& e) const { leftOut[event.run] = e.leftOut; }
  void operator()(const trace::StepFinished&) const {
    if (event.request != 0) requests[event.request].finished = true;
  }
  void operator()(const trace::BlockLookedUp& e) const {
    // The hits of a resumed request are mostly blocks of the same request, so these hits are not reuse.
    if (requests[event.request].preempted) return;
    ++stats.blocksLookedUp;
    if (e.outcome == trace::LookupOutcome::Hit) ++stats.blocksHit;
    if (e.outcome == trace::LookupOutcome::Relocated) ++stats.blocksRelocated;
    if (e.outcome == trace::LookupOutcome::Partial) ++stats.blocksPartial;
    if (e.outcome == trace::LookupOutcome::Miss) ++stats.blocksMissed;
  }
  void operator()(const trace::BlockAllocated&) const { ++stats.blocksAllocated; }
  void operator()(const trace::BlockStored&) const { ++stats.blocksStored; }
  void operator()(const trace::BlockRemoved& e) const {
    if (e.reason == trace::RemovalReason::Evicted) ++stats.blocksEvicted;
  }
  void operator()(const trace::BlockCopied&) const { ++stats.blocksCopied; }
  void operator()(const trace::RequestAdmitted& e) const {
    if (event.request == 0) return;
    if (!e.resumed) {
      requests[event.request].admitted = e;
      return;
    }
    addSaturated(stats.resumedTokens, e.promptTokens);
    addSaturated(stats.resumedCachedTokens, e.cachedTokens);
    addSaturated(stats.recomputedTokens, e.recomputedTokens);
  }
  void operator()(const trace::RequestPreempted&) const {
    ++stats.preemptions;
    requests[event.request].preempted = true;
  }
  void operator()(const trace::BatchComputed& e) const {
    ++stats.passes;
    stats.passTime += static_cast<double>(e.nanoseconds) / kNanoseconds;
    for (const trace::BatchEntry& entry : e.entries) {
      addSaturated(rows, entry.count);
      if (!entry.decode && !entry.repeated && entry.request != 0)
        addSaturated(requests[entry.request].computed, entry.count);
    }
  }
  void operator()(const trace::TokenGenerated&) const {
    if (event.request != 0) ++requests[event.request].generated;
  }
  void operator()(const trace::StepMetrics& e) const {
    if (event.request != 0) requests[event.request].metrics = e;
  }
  void operator()(const trace::ServerReported& e) const {
    if (event.request != 0) requests[event.request].reported = e;
  }
  void operator()(const trace::MessageLogged& e) const {
    if (e.severity == Severity::Warning) ++stats.warnings;
    if (e.severity == Severity::Error) ++stats.errors;
  }
  void operator()(const trace::Snapshot& e) const { stats.lost += e.lost; }
  template <class Other>
  void operator()(const Other&) const {}
};

std::string secondsText(double seconds) {
  return seconds < 1 ? trace::fixedPoint(1e3 * seconds, 2) + " ms" : trace::fixedPoint(seconds, 2) + " s";
}

std::string name(std::string_view id) {
  return get(id).name;
}

std::string shortName(std::string_view id) {
  return get(id).shortName;
}

}  // namespace

TraceStats stats(std::span<const trace::Event> events) {
  TraceStats result;
  std::map<RequestId, RequestSums> requests;
  std::set<RunId> runs;
  std::int64_t rows = 0;
  std::map<RunId, std::uint64_t> leftOut;
  HitRates hitRates;
  ResidencySampler residencies;
  TokenAccounts accounts;
  for (const trace::Event& event : events) {
    hitRates.take(event);
    residencies.take(event);
    accounts.take(event.request, event.payload);
    // A request without a run is the replay of another request, which was already counted.
    const bool isPass = std::holds_alternative<trace::BatchComputed>(event.payload);
    if (event.run == 0 && (event.request != 0 || isPass)) continue;
    if (event.run != 0) runs.insert(event.run);
    if (event.request != 0) requests.try_emplace(event.request);
    std::visit(Collector{result, event, requests, runs, rows, leftOut}, event.payload);
  }
  result.events = events.size();
  result.runs = runs.size();
  result.requests = requests.size();
  result.recent = hitRates.recent().sums();
  result.residency = metricsOf(residencies.evicted());
  for (const auto& [run, missing] : leftOut) result.attentionLeftOut += missing;
  if (!events.empty()) {
    result.duration =
        (static_cast<double>(events.back().time) - static_cast<double>(events.front().time)) / kNanoseconds;
  }
  std::vector<double> firstTokens;
  std::vector<double> latencies;
  for (const auto& [id, request] : requests) {
    if (request.finished) ++result.finishedRequests;
    const trace::StepMetrics sums =
        request.metrics.value_or(trace::StepMetrics{.promptTokens = request.admitted.promptTokens,
                                                    .cachedTokens = request.admitted.cachedTokens,
                                                    .relocatedTokens = request.admitted.relocatedTokens,
                                                    .computedTokens = request.computed,
                                                    .generatedTokens = request.generated});
    addSaturated(result.promptTokens, sums.promptTokens);
    addSaturated(result.cachedTokens, sums.cachedTokens);
    addSaturated(result.relocatedTokens, sums.relocatedTokens);
    addSaturated(result.computedTokens, sums.computedTokens);
    addSaturated(result.generatedTokens, sums.generatedTokens);
    result.account += accounts.of(id);
    if (request.reported) {
      ++result.servedRequests;
      // A watched server reports hits without the metrics of a step.
      if (!request.metrics && !request.reported->isCachedKnown()) {
        ++result.unaccountedRequests;
        addSaturated(result.unaccountedTokens, request.reported->promptTokens.value_or(0));
      }
      if (!request.metrics) {
        addSaturated(result.generatedTokens, request.reported->generatedTokens.value_or(0));
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

std::string statsTable(const TraceStats& s) {
  std::vector<std::pair<std::string, std::string>> lines;
  const auto add = [&lines](const std::string& name, auto value) {
    if constexpr (std::is_integral_v<decltype(value)>) {
      lines.emplace_back(name, std::to_string(value));
    } else {
      lines.emplace_back(name, std::move(value));
    }
  };
  add("events", s.events);
  if (s.lost > 0) add("events not delivered", s.lost);
  add("duration", trace::fixedPoint(s.duration, 3) + " s");
  add("runs", s.runs);
  add("requests", s.requests);
  add("  finished", s.finishedRequests);
  if (s.servedRequests > 0) add("  answered by servers", s.servedRequests);
  if (s.unaccountedRequests > 0) {
    add(/*id:not-known-found*/ "  with unknown cached tokens", s.unaccountedRequests);
    add("    prompt tokens of these requests", s.unaccountedTokens);
  }
  // The sum of cached, recomputed and computed is the number of prompt tokens, as in the window.
  add(name("prompt-tokens"), s.account.total());
  add("  " + shortName("cached-tokens"), s.account.prompt.cached());
  add("  of them " + shortName("relocated-tokens"), s.account.prompt.relocated);
  add("  " + shortName("tokens-computed-again"), s.account.prompt.again);
  add("  " + shortName("computed-tokens"), s.account.prompt.computed);
  if (s.account.unread > 0) add("  " + shortName("unread-tokens"), s.account.unread);
  if (s.account.prompt.padding > 0)
    add("  of all these " + shortName("padding-tokens"), s.account.prompt.padding);
  if (s.account.prompt.delimiters > 0)
    add("  of all these " + shortName("delimiter-tokens"), s.account.prompt.delimiters);
  if (s.account.prompt.cropped > 0) add(name("cropped-tokens"), s.account.prompt.cropped);
  if (s.account.beside > 0) add(name("tokens-beside-the-prompt"), s.account.beside);
  add(name("generated-tokens"), s.generatedTokens);
  const double prompt = static_cast<double>(std::max<std::int64_t>(1, s.account.total()));
  add(name("hit-rate"),
      trace::shareNumber(static_cast<double>(s.account.prompt.cached()) / prompt, 1) + " %");
  // If the window has all requests, both rates are equal.
  if (s.recent.requests > 0 && static_cast<std::uint64_t>(s.recent.requests) < s.requests)
    add("  " + shortName("recent-hit-rate"),
        trace::shareNumber(s.recent.rate(), 1) + " % of " +
            counted(static_cast<std::uint64_t>(s.recent.requests), "request"));
  add("blocks looked up", s.blocksLookedUp);
  add("  " + shortName("hit-blocks"), s.blocksHit);
  add("  " + shortName("relocated-blocks"), s.blocksRelocated);
  add("  " + shortName("partial-blocks"), s.blocksPartial);
  add("  " + shortName("missed-blocks"), s.blocksMissed);
  add(name("allocated-blocks"), s.blocksAllocated);
  add(name("stored-blocks"), s.blocksStored);
  add(name("evicted-blocks"), s.blocksEvicted);
  add("copied blocks", s.blocksCopied);
  if (s.residency.lifetime) {
    add("time in the pool", secondsText(*s.residency.lifetime) + " until evicted (median)");
    add(/*id:idle-end*/ "  idle at the end", secondsText(*s.residency.idle) + " (median)");
  }
  if (s.residency.gap) add("  between uses", secondsText(*s.residency.gap) + " (median)");
  if (s.preemptions > 0) {
    add("preemptions", s.preemptions);
    add("  tokens at resumption", s.resumedTokens);
    add("  cached at resumption", s.resumedCachedTokens);
    add("  recomputed", s.recomputedTokens);
  }
  if (s.attentionLeftOut > 0) add("attention left out", counted(s.attentionLeftOut, "record"));
  add(name("passes"), s.passes);
  add("  mean rows", trace::fixedPoint(s.meanRowsPerPass, 1));
  add("  time", trace::fixedPoint(s.passTime, 3) + " s");
  add(name("time-to-first-token"), trace::fixedPoint(1e3 * s.timeToFirstToken, 2) + " ms (median)");
  add(name("inter-token-latency"), trace::fixedPoint(1e3 * s.interTokenLatency, 2) + " ms (median)");
  if (s.warnings > 0) add("warnings", s.warnings);
  if (s.errors > 0) add("errors", s.errors);

  std::size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  std::string table;
  for (const auto& [name, value] : lines) {
    table.append(name).append(width + 2 - name.size(), ' ').append(value).append("\n");
  }
  return table;
}

}  // namespace spanscope::metrics
