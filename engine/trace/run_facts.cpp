// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/run_facts.h"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace spanscope::trace {
namespace {

bool isAtOrBelow(const NodePath& node, const NodePath& top) {
  return node == top || (node.starts_with(top) && node[top.size()] == '/');
}

}  // namespace

std::optional<PromptAccount> accountOf(const RequestFacts& request) {
  if (!request.admitted) return std::nullopt;
  return request.segments.empty() ? accountOf(*request.admitted)
                                  : request.tokens.account(request.segments, request.admitted->promptTokens);
}

std::vector<ViewToken> tokensInView(const RequestFacts& request) {
  std::vector<ViewToken> tokens;
  std::uint32_t index = 0;
  for (const SegmentInfo& segment : request.segments) {
    if (!segment.hidden) {
      const auto end = static_cast<std::int32_t>(segment.tokens.size());
      for (std::int32_t local = segment.visibleBegin; local < end; ++local) tokens.push_back({index, local});
    }
    ++index;
  }
  return tokens;
}

BlockPlace blockOf(const ViewToken& token, std::int32_t blockSize) {
  return {token.segment, token.local / blockSize};
}

std::vector<BlockPlace> blocksInView(const RequestFacts& request, std::int32_t blockSize) {
  std::vector<BlockPlace> blocks;
  for (const ViewToken& token : tokensInView(request)) {
    const BlockPlace place = blockOf(token, blockSize);
    if (blocks.empty() || blocks.back() != place) blocks.push_back(place);
  }
  return blocks;
}

std::int32_t tailBegin(const SegmentInfo& segment, std::int32_t blockSize) {
  const auto end = static_cast<std::int32_t>(segment.tokens.size());
  return std::max(end / blockSize * blockSize, segment.visibleBegin);
}

std::vector<NodeRange> rangesOf(const RequestFacts& request, const NodePath& node) {
  std::vector<NodeRange> ranges;
  std::uint32_t index = 0;
  for (const SegmentInfo& segment : request.segments) {
    std::int32_t begin = 0;
    for (const TokenRunInfo& run : segment.runs) {
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

void RunFactsCollector::take(const BlockLookedUp& block, const Event& event) {
  Request& request = m_requests[event.request];
  const BlockPlace place{block.segment, block.virtualIndex};
  // What a request finds when it goes on after a preemption is mostly its own.
  if (!request.lookedUp.emplace(place, request.facts.lookups.size()).second) return;
  request.facts.lookups.push_back(block);
  request.facts.tokens.take(block, m_blockSize);
  BlockCounts& counts = m_runs[event.run].blocks;
  ++counts.lookedUp;
  switch (block.outcome) {
    case LookupOutcome::Hit:
      ++counts.hit;
      break;
    case LookupOutcome::Relocated:
      ++counts.relocated;
      break;
    case LookupOutcome::Partial:
      ++counts.partial;
      break;
    case LookupOutcome::Miss:
      ++counts.missed;
      break;
  }
}

void RunFactsCollector::take(const BatchComputed& batch) {
  struct Rows {
    std::int64_t all = 0;
    bool ofPrompts = false;
  };
  std::map<RunId, Rows> byRun;
  for (const BatchEntry& entry : batch.entries) {
    const auto request = m_requests.find(entry.request);
    if (request == m_requests.end()) continue;
    request->second.facts.tokens.take(entry);
    Rows& rows = byRun[request->second.run];
    rows.all += entry.count;
    rows.ofPrompts = rows.ofPrompts || !entry.decode;
  }
  for (const auto& [id, rows] : byRun) {
    Run& run = m_runs[id];
    ++run.passes;
    run.decodePasses += rows.ofPrompts ? 0 : 1;
    run.mostRows = std::max(run.mostRows, rows.all);
  }
}

std::optional<Error> RunFactsCollector::take(const Event& event) {
  if (std::optional<Error> error = m_replay.apply(event)) return error;
  std::visit(
      [&](const auto& payload) {
        using Kind = std::decay_t<decltype(payload)>;
        if constexpr (std::is_same_v<Kind, SessionStarted> || std::is_same_v<Kind, Snapshot>) {
          m_blockSize = std::max(payload.pool.blockSize, 1);
          m_poolBlocks = static_cast<std::int64_t>(std::max<std::size_t>(payload.pool.blocks.size(), 1)) - 1;
        } else if constexpr (std::is_same_v<Kind, RunStarted>) {
          m_runs.try_emplace(event.run);
        } else if constexpr (std::is_same_v<Kind, StepStarted>) {
          const auto [request, isNew] = m_requests.try_emplace(event.request);
          if (!isNew) return;
          request->second.run = event.run;
          request->second.facts.request = event.request;
          request->second.facts.node = event.node;
          m_runs[event.run].requests.push_back(event.request);
        } else if constexpr (std::is_same_v<Kind, BatchComputed>) {
          take(payload);
        } else if constexpr (std::is_same_v<Kind, BlockRemoved>) {
          if (payload.reason == RemovalReason::Evicted && event.run != 0) ++m_runs[event.run].blocks.evicted;
        } else {
          const auto request = m_requests.find(event.request);
          if (request == m_requests.end()) return;
          RequestFacts& facts = request->second.facts;
          if constexpr (std::is_same_v<Kind, SpanTableLaidOut>) {
            facts.segments = payload.segments;
            facts.tokens.take(payload);
          } else if constexpr (std::is_same_v<Kind, LayoutApplied> ||
                               std::is_same_v<Kind, TokensRecomputed>) {
            facts.tokens.take(payload);
          } else if constexpr (std::is_same_v<Kind, RequestAdmitted>) {
            if (!facts.admitted) facts.admitted = payload;
          } else if constexpr (std::is_same_v<Kind, StepMetrics>) {
            // Some sources report nothing else of a request.
            if (!facts.admitted) facts.admitted = admittedBy(payload);
            if (payload.generatedTokens > 0) facts.timeToFirstToken = payload.timeToFirstToken;
          } else if constexpr (std::is_same_v<Kind, BlockLookedUp>) {
            take(payload, event);
          } else if constexpr (std::is_same_v<Kind, BlockAllocated>) {
            ++m_runs[event.run].blocks.allocated;
          } else if constexpr (std::is_same_v<Kind, BlockStored>) {
            ++m_runs[event.run].blocks.stored;
          } else if constexpr (std::is_same_v<Kind, BlockCopied>) {
            ++m_runs[event.run].blocks.copied;
          } else if constexpr (std::is_same_v<Kind, TokenGenerated>) {
            facts.tokens.setRead();
          } else if constexpr (std::is_same_v<Kind, StepFinished>) {
            if (payload.outcome != StepOutcome::Stopped && payload.outcome != StepOutcome::Failed)
              facts.tokens.setRead();
          } else if constexpr (std::is_same_v<Kind, FidelityMeasured>) {
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
  const Progress& progress = m_replay.progress();
  RunFacts facts;
  facts.run = run;
  facts.model = progress.model.substr(progress.model.find_last_of('/') + 1);
  facts.policy = state->second.policy;
  facts.answer = state->second.answer;
  facts.outcome = state->second.outcome;
  facts.layers = progress.layers;
  facts.blockSize = m_blockSize;
  facts.poolBlocks = m_poolBlocks;
  facts.figures = figuresOf(progress, state->second);
  facts.blocks = found->second.blocks;
  facts.passes = found->second.passes;
  facts.decodePasses = found->second.decodePasses;
  facts.mostRows = found->second.mostRows;
  std::vector<const FidelityMeasured*> measured;
  for (const RequestId id : found->second.requests) {
    const Request& request = m_requests.at(id);
    facts.requests.push_back(request.facts);
    if (const std::optional<PromptAccount> account = accountOf(request.facts)) facts.account += *account;
    const auto told = progress.requests.find(id);
    if (told != progress.requests.end() && told->second.reported) {
      facts.isRemote = true;
      facts.isAccounted = facts.isAccounted && request.facts.admitted.has_value();
    }
    if (request.fidelity) measured.push_back(&*request.fidelity);
  }
  if (!measured.empty()) facts.fidelity = fidelityOf(measured);
  return facts;
}

std::vector<RunId> RunFactsCollector::runs() const {
  std::vector<RunId> ids;
  for (const auto& [id, run] : m_runs) ids.push_back(id);
  return ids;
}

}  // namespace spanscope::trace
