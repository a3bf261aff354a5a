// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/trace/token_account.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace spanscope::trace {

TokenAccount& TokenAccount::operator+=(const TokenAccount& other) {
  hit += other.hit;
  relocated += other.relocated;
  computed += other.computed;
  again += other.again;
  return *this;
}

PromptAccount& PromptAccount::operator+=(const PromptAccount& other) {
  prompt += other.prompt;
  beside += other.beside;
  return *this;
}

FoundTokens foundTokens(const BlockLookedUp& block, std::int64_t blockSize) {
  return {.begin = block.virtualIndex * blockSize,
          .count = block.tokens,
          .relocated = block.outcome == LookupOutcome::Relocated ||
                       (block.outcome == LookupOutcome::Partial && block.base != block.storedBase)};
}

TokenAccount accountOf(const std::vector<FoundTokens>& found, const std::vector<std::int32_t>& again,
                       std::int64_t begin, std::int64_t end) {
  TokenAccount account;
  const auto recomputed = [&again](std::int64_t from, std::int64_t to) {
    return std::lower_bound(again.begin(), again.end(), to) -
           std::lower_bound(again.begin(), again.end(), from);
  };
  std::int64_t known = 0;
  for (const FoundTokens& block : found) {
    const std::int64_t from = std::max(begin, block.begin);
    const std::int64_t to = std::min(end, block.begin + block.count);
    if (from >= to) continue;
    const std::int64_t own = recomputed(from, to);
    (block.relocated ? account.relocated : account.hit) += to - from - own;
    account.again += own;
    known += to - from;
  }
  account.computed = std::max<std::int64_t>(0, end - begin - known);
  return account;
}

void RequestTokens::take(const BlockLookedUp& block, std::int64_t blockSize) {
  Segment& segment = m_segments[block.segment];
  if (!segment.lookedUp.insert(block.virtualIndex).second) return;
  if (block.tokens > 0) segment.found.push_back(foundTokens(block, blockSize));
}

void RequestTokens::take(const TokensRecomputed& told) {
  for (auto& [index, segment] : m_segments) segment.again.clear();
  for (const RecomputedTokens& segment : told.segments) m_segments[segment.segment].again = segment.tokens;
}

TokenAccount RequestTokens::of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const {
  const auto known = m_segments.find(segment);
  return known == m_segments.end() ? accountOf({}, {}, begin, end)
                                   : accountOf(known->second.found, known->second.again, begin, end);
}

TokenAccount RequestTokens::prompt(std::span<const SegmentInfo> segments) const {
  TokenAccount account;
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    const SegmentInfo& segment = segments[i];
    if (!segment.hidden)
      account += of(i, segment.visibleBegin, static_cast<std::int64_t>(segment.tokens.size()));
  }
  return account;
}

std::int64_t visibleTokens(std::span<const SegmentInfo> segments) {
  std::int64_t visible = 0;
  for (const SegmentInfo& segment : segments) {
    if (!segment.hidden) visible += static_cast<std::int64_t>(segment.tokens.size()) - segment.visibleBegin;
  }
  return visible;
}

PromptAccount accountOf(const RequestAdmitted& admitted) {
  return {.prompt = {.hit = admitted.cachedTokens - admitted.relocatedTokens,
                     .relocated = admitted.relocatedTokens,
                     .computed = admitted.promptTokens - admitted.cachedTokens},
          .beside = 0};
}

RequestAdmitted admittedBy(const StepMetrics& metrics) {
  return {.promptTokens = metrics.promptTokens,
          .cachedTokens = metrics.cachedTokens,
          .relocatedTokens = metrics.relocatedTokens};
}

void TokenAccounts::take(RequestId request, const Payload& payload) {
  if (const auto* session = std::get_if<SessionStarted>(&payload)) {
    m_blockSize = std::max(1, session->pool.blockSize);
  } else if (const auto* snapshot = std::get_if<Snapshot>(&payload)) {
    m_blockSize = std::max(1, snapshot->pool.blockSize);
  } else if (const auto* table = std::get_if<SpanTableLaidOut>(&payload)) {
    m_requests[request].segments = table->segments;
  } else if (const auto* block = std::get_if<BlockLookedUp>(&payload)) {
    m_requests[request].tokens.take(*block, m_blockSize);
  } else if (const auto* told = std::get_if<TokensRecomputed>(&payload)) {
    m_requests[request].tokens.take(*told);
  } else if (const auto* admitted = std::get_if<RequestAdmitted>(&payload)) {
    std::optional<RequestAdmitted>& first = m_requests[request].admitted;
    if (!first) first = *admitted;
  } else if (const auto* metrics = std::get_if<StepMetrics>(&payload)) {
    // Some sources report nothing else of a request.
    std::optional<RequestAdmitted>& first = m_requests[request].admitted;
    if (!first) first = admittedBy(*metrics);
  }
}

PromptAccount TokenAccounts::of(RequestId request) const {
  const auto found = m_requests.find(request);
  if (found == m_requests.end() || !found->second.admitted) return {};
  const Request& own = found->second;
  if (own.segments.empty()) return accountOf(*own.admitted);
  return {.prompt = own.tokens.prompt(own.segments),
          .beside = std::max<std::int64_t>(0, own.admitted->promptTokens - visibleTokens(own.segments))};
}

}  // namespace spanscope::trace
