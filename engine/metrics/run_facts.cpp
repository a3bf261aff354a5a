// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/metrics/run_facts.h"

#include "engine/base/median.h"
#include "engine/trace/predicted.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace spanscope::metrics {
namespace {

std::optional<double> rateOf(std::int64_t rows, std::int64_t nanoseconds) {
  if (rows <= 0 || nanoseconds <= 0) return std::nullopt;
  return static_cast<double>(rows) / (static_cast<double>(nanoseconds) * 1e-9);
}

bool isAtOrBelow(const NodePath& node, const NodePath& top) {
  return node == top || (node.starts_with(top) && node[top.size()] == '/');
}

}  // namespace

RunValues valuesOf(const trace::Progress& progress, const trace::RunState& run) {
  RunValues measured;
  std::vector<double> first;
  std::vector<double> between;
  for (const RequestId id : run.requests) {
    const auto found = progress.requests.find(id);
    if (found == progress.requests.end()) continue;
    const trace::RequestState& request = found->second;
    measured.promptTokens += request.promptTokens;
    measured.cachedTokens += request.cachedTokens;
    measured.relocatedTokens += request.relocatedTokens;
    measured.computedTokens += request.computedTokens;
    measured.generatedTokens += request.generatedTokens;
    if (!request.metrics) {
      if (request.reported && request.reported->timeToFirstToken)
        first.push_back(*request.reported->timeToFirstToken);
      continue;
    }
    if (request.metrics->generatedTokens > 0) first.push_back(request.metrics->timeToFirstToken);
    if (request.metrics->generatedTokens > 1) between.push_back(request.metrics->interTokenLatency);
  }
  measured.timeToFirstToken = medianOf(std::move(first));
  measured.interTokenLatency = medianOf(std::move(between));
  // A simulated session has no times.
  if (run.startedAt >= 0 && run.finishedAt >= 0 && !trace::isPredicted(progress.program))
    measured.whole = static_cast<double>(run.finishedAt - run.startedAt) * 1e-9;
  return measured;
}

Totals totalsOf(const RunFacts& run) {
  Totals totals;
  totals.metered = run.metered;
  totals.timeToFirstToken = run.measured.timeToFirstToken;
  totals.interTokenLatency = run.measured.interTokenLatency;
  totals.whole = run.measured.whole;
  totals.prefillRate = run.prefillRate;
  totals.decodeRate = run.decodeRate;
  if (run.requests.empty()) return totals;
  if (run.isAccounted) totals.account = run.account;
  totals.generatedTokens = run.measured.generatedTokens;
  if (!run.isRemote) totals.allocatedBlocks = run.blocks.allocated;
  return totals;
}

std::optional<PromptAccount> accountOf(const RequestFacts& request) {
  if (!request.admitted) return std::nullopt;
  return request.segments.empty() ? accountOf(*request.admitted)
                                  : request.tokens.account(request.segments, request.admitted->promptTokens);
}

std::vector<ViewToken> tokensInView(const RequestFacts& request) {
  std::vector<ViewToken> tokens;
  std::uint32_t index = 0;
  for (const trace::SegmentInfo& segment : request.segments) {
    if (!segment.hidden) {
      const auto end = static_cast<std::int32_t>(segment.tokens.size());
      for (std::int32_t local = segment.visibleBegin; local < end; ++local) tokens.push_back({index, local});
    }
    ++index;
  }
  return tokens;
}

trace::BlockPlace blockOf(const ViewToken& token, std::int32_t blockSize) {
  return {token.segment, token.local / blockSize};
}

std::vector<trace::BlockPlace> blocksInView(const RequestFacts& request, std::int32_t blockSize) {
  std::vector<trace::BlockPlace> blocks;
  for (const ViewToken& token : tokensInView(request)) {
    const trace::BlockPlace place = blockOf(token, blockSize);
    if (blocks.empty() || blocks.back() != place) blocks.push_back(place);
  }
  return blocks;
}

std::int32_t tailBegin(const trace::SegmentInfo& segment, std::int32_t blockSize) {
  const auto end = static_cast<std::int32_t>(segment.tokens.size());
  return std::max(end / blockSize * blockSize, segment.visibleBegin);
}

std::vector<NodeRange> rangesOf(const RequestFacts& request, const NodePath& node) {
  std::vector<NodeRange> ranges;
  std::uint32_t index = 0;
  for (const trace::SegmentInfo& segment : request.segments) {
    std::int32_t begin = 0;
    for (const trace::TokenRunInfo& run : segment.runs) {
      const std::int32_t end = begin + run.count;
      const std::int32_t shown = std::max(begin, segment.visibleBegin);
      if (!segment.hidden && shown < end && isAtOrBelow(run.node, node)) {
        if (!ranges.empty() && ranges.back().segment == index && ranges.back().end == shown)
          ranges.back().end = end;
        else
          ranges.push_back({index, shown, end});
      }
      begin = end;
    }
    ++index;
  }
  return ranges;
}

void RunFactsCollector::take(const trace::BlockLookedUp& block, const trace::Event& event) {
  Request& request = m_requests[event.request];
  const trace::BlockPlace place{block.segment, block.virtualIndex};
  // The hits of a request that resumes after a preemption are mostly its own blocks.
  if (!request.lookedUp.emplace(place, request.facts.lookups.size()).second) return;
  request.facts.lookups.push_back(block);
  request.facts.tokens.take(block, m_blockSize);
  BlockCounts& counts = m_runs[event.run].blocks;
  ++counts.lookedUp;
  switch (block.outcome) {
    case trace::LookupOutcome::Hit:
      ++counts.hit;
      break;
    case trace::LookupOutcome::Relocated:
      ++counts.relocated;
      break;
    case trace::LookupOutcome::Partial:
      ++counts.partial;
      break;
    case trace::LookupOutcome::Miss:
      ++counts.missed;
      break;
  }
}

void RunFactsCollector::take(const trace::BatchComputed& batch) {
  struct Rows {
    std::int64_t all = 0;
    std::int64_t ofPrompts = 0;
  };
  std::map<RunId, Rows> byRun;
  for (const trace::BatchEntry& entry : batch.entries) {
    const auto request = m_requests.find(entry.request);
    if (request == m_requests.end()) continue;
    request->second.facts.tokens.take(entry);
    Rows& rows = byRun[request->second.run];
    rows.all += entry.count;
    rows.ofPrompts += entry.decode ? 0 : entry.count;
  }
  for (const auto& [id, rows] : byRun) {
    Run& run = m_runs[id];
    ++run.passes;
    const bool isDecode = rows.ofPrompts == 0;
    run.decodePasses += isDecode ? 1 : 0;
    run.mostRows = std::max(run.mostRows, rows.all);
    (isDecode ? run.decodeRows : run.prefillRows) += isDecode ? rows.all : rows.ofPrompts;
    (isDecode ? run.decodeTime : run.prefillTime) += batch.nanoseconds;
  }
}

std::optional<Error> RunFactsCollector::take(const trace::Event& event) {
  if (std::optional<Error> error = m_replay.apply(event)) return error;
  m_meters.take(event);
  std::visit(
      [&](const auto& payload) {
        using Kind = std::decay_t<decltype(payload)>;
        if constexpr (std::is_same_v<Kind, trace::SessionStarted> || std::is_same_v<Kind, trace::Snapshot>) {
          m_blockSize = std::max(payload.pool.blockSize, 1);
          m_poolBlocks = static_cast<std::int64_t>(std::max<std::size_t>(payload.pool.blocks.size(), 1)) - 1;
        } else if constexpr (std::is_same_v<Kind, trace::RunStarted>) {
          m_runs.try_emplace(event.run);
        } else if constexpr (std::is_same_v<Kind, trace::StepStarted>) {
          const auto [request, isNew] = m_requests.try_emplace(event.request);
          if (!isNew) return;
          request->second.run = event.run;
          request->second.facts.request = event.request;
          request->second.facts.node = event.node;
          m_runs[event.run].requests.push_back(event.request);
        } else if constexpr (std::is_same_v<Kind, trace::BatchComputed>) {
          take(payload);
        } else if constexpr (std::is_same_v<Kind, trace::BlockRemoved>) {
          if (payload.reason == trace::RemovalReason::Evicted && event.run != 0)
            ++m_runs[event.run].blocks.evicted;
        } else {
          const auto request = m_requests.find(event.request);
          if (request == m_requests.end()) return;
          RequestFacts& facts = request->second.facts;
          if constexpr (std::is_same_v<Kind, trace::SpanTableLaidOut>) {
            facts.segments = payload.segments;
            facts.tokens.take(payload);
          } else if constexpr (std::is_same_v<Kind, trace::LayoutApplied>) {
            facts.tokens.take(payload);
            request->second.layout = payload;
          } else if constexpr (std::is_same_v<Kind, trace::TokensRecomputed>) {
            facts.tokens.take(payload);
          } else if constexpr (std::is_same_v<Kind, trace::RequestAdmitted>) {
            if (!facts.admitted) facts.admitted = payload;
          } else if constexpr (std::is_same_v<Kind, trace::StepMetrics>) {
            // Some sources report only step metrics of a request.
            if (!facts.admitted) facts.admitted = admittedBy(payload);
            if (payload.generatedTokens > 0) facts.timeToFirstToken = payload.timeToFirstToken;
          } else if constexpr (std::is_same_v<Kind, trace::BlockLookedUp>) {
            take(payload, event);
          } else if constexpr (std::is_same_v<Kind, trace::BlockAllocated>) {
            ++m_runs[event.run].blocks.allocated;
          } else if constexpr (std::is_same_v<Kind, trace::BlockStored>) {
            ++m_runs[event.run].blocks.stored;
          } else if constexpr (std::is_same_v<Kind, trace::BlockCopied>) {
            ++m_runs[event.run].blocks.copied;
          } else if constexpr (std::is_same_v<Kind, trace::TokenGenerated>) {
            facts.tokens.setRead();
          } else if constexpr (std::is_same_v<Kind, trace::StepFinished>) {
            if (payload.outcome != trace::StepOutcome::Stopped &&
                payload.outcome != trace::StepOutcome::Failed)
              facts.tokens.setRead();
          } else if constexpr (std::is_same_v<Kind, trace::FidelityMeasured>) {
            request->second.fidelity = payload;
          }
        }
      },
      event.payload);
  return std::nullopt;
}

std::optional<RunFacts> RunFactsCollector::of(RunId run) const {
  const auto found = m_runs.find(run);
  const auto state = m_replay.progress().runs.find(run);
  if (found == m_runs.end() || state == m_replay.progress().runs.end()) return std::nullopt;
  const trace::Progress& progress = m_replay.progress();
  RunFacts facts;
  facts.run = run;
  facts.model = progress.model.substr(progress.model.find_last_of('/') + 1);
  facts.policy = state->second.policy;
  facts.answer = state->second.answer;
  facts.outcome = state->second.outcome;
  facts.layers = progress.layers;
  facts.blockSize = m_blockSize;
  facts.poolBlocks = m_poolBlocks;
  facts.measured = valuesOf(progress, state->second);
  facts.blocks = found->second.blocks;
  facts.passes = found->second.passes;
  facts.decodePasses = found->second.decodePasses;
  facts.mostRows = found->second.mostRows;
  facts.prefillRate = rateOf(found->second.prefillRows, found->second.prefillTime);
  facts.decodeRate = rateOf(found->second.decodeRows, found->second.decodeTime);
  facts.metered = m_meters.of(found->second.requests);
  std::vector<const trace::FidelityMeasured*> measured;
  for (const RequestId id : found->second.requests) {
    const Request& request = m_requests.at(id);
    facts.requests.push_back(request.facts);
    if (const std::optional<PromptAccount> account = accountOf(request.facts)) facts.account += *account;
    const auto reported = progress.requests.find(id);
    if (reported != progress.requests.end() && reported->second.reported) {
      facts.isRemote = true;
      facts.isAccounted = facts.isAccounted && request.facts.admitted.has_value();
    }
    if (request.fidelity) measured.push_back(&*request.fidelity);
    if (!request.layout) continue;
    if (!facts.layout) facts.layout.emplace();
    *facts.layout += layoutMetrics(*request.layout, request.facts.segments, m_blockSize);
  }
  if (!measured.empty()) facts.fidelity = fidelityOf(measured);
  return facts;
}

std::vector<RunId> RunFactsCollector::runs() const {
  std::vector<RunId> ids;
  for (const auto& [id, run] : m_runs) ids.push_back(id);
  return ids;
}

}  // namespace spanscope::metrics
