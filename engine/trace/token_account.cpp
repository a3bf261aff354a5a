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
  unread += other.unread;
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

void RequestTokens::take(const BatchEntry& entry) {
  if (entry.decode) return;
  auto& computed = m_segments[entry.segment].computed;
  const std::int64_t end = std::int64_t{entry.begin} + entry.count;
  if (!computed.empty() && computed.back().second == entry.begin) {
    computed.back().second = end;
  } else {
    computed.emplace_back(entry.begin, end);
  }
}

TokenAccount RequestTokens::of(std::uint32_t segment, std::int64_t begin, std::int64_t end) const {
  const auto known = m_segments.find(segment);
  return known == m_segments.end() ? accountOf({}, {}, begin, end)
                                   : accountOf(known->second.found, known->second.again, begin, end);
}

std::int64_t RequestTokens::unread(std::uint32_t segment, std::int64_t begin, std::int64_t end) const {
  if (m_isRead || begin >= end) return 0;
  const auto known = m_segments.find(segment);
  if (known == m_segments.end()) return end - begin;
  std::vector<std::pair<std::int64_t, std::int64_t>> read = known->second.computed;
  for (const FoundTokens& block : known->second.found)
    read.emplace_back(block.begin, block.begin + block.count);
  std::sort(read.begin(), read.end());
  std::int64_t unread = 0;
  std::int64_t at = begin;
  for (const auto& [from, to] : read) {
    if (from >= end) break;
    if (from > at) unread += from - at;
    at = std::max(at, to);
  }
  return unread + std::max<std::int64_t>(0, end - at);
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
                     .computed = admitted.promptTokens - admitted.cachedTokens}};
}

PromptAccount RequestTokens::account(std::span<const SegmentInfo> segments, std::int64_t promptTokens) const {
  PromptAccount account{.prompt = prompt(segments)};
  for (std::uint32_t i = 0; i < segments.size(); ++i) {
    const SegmentInfo& segment = segments[i];
    if (!segment.hidden)
      account.unread += unread(i, segment.visibleBegin, static_cast<std::int64_t>(segment.tokens.size()));
  }
  account.prompt.computed = std::max<std::int64_t>(0, account.prompt.computed - account.unread);
  account.beside = std::max<std::int64_t>(0, promptTokens - visibleTokens(segments));
  return account;
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
  } else if (const auto* pass = std::get_if<BatchComputed>(&payload)) {
    for (const BatchEntry& entry : pass->entries) m_requests[entry.request].tokens.take(entry);
  } else if (std::holds_alternative<TokenGenerated>(payload)) {
    m_requests[request].tokens.setRead();
  } else if (const auto* ended = std::get_if<StepFinished>(&payload)) {
    if (ended->outcome != StepOutcome::Stopped && ended->outcome != StepOutcome::Failed)
      m_requests[request].tokens.setRead();
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
  return own.tokens.account(own.segments, own.admitted->promptTokens);
}

}  // namespace spanscope::trace
