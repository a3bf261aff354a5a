// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/token_account.h"

#include "ui/session/prompt_parts.h"

#include <algorithm>
#include <variant>

namespace spanscope::ui {

std::map<std::uint32_t, std::vector<std::int32_t>> recomputedTokens(const ViewInput& input,
                                                                    RequestId request) {
  std::map<std::uint32_t, std::vector<std::int32_t>> tokens;
  const RequestEvents* events = input.trace->request(request);
  if (events == nullptr) return tokens;
  for (const std::size_t index : events->of<trace::TokensRecomputed>()) {
    if (index >= input.position) break;
    const auto* told = std::get_if<trace::TokensRecomputed>(&input.trace->event(index).payload);
    if (told == nullptr) continue;
    tokens.clear();
    for (const trace::RecomputedTokens& segment : told->segments) tokens[segment.segment] = segment.tokens;
  }
  return tokens;
}

RequestAccount::RequestAccount(const ViewInput& input, RequestId request)
    : m_input(input), m_again(recomputedTokens(input, request)) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found != requests.end()) m_request = &found->second;
}

TokenAccount RequestAccount::of(std::uint32_t segment, std::int64_t begin, std::int64_t end) {
  if (m_request == nullptr) return {};
  auto known = m_found.find(segment);
  if (known == m_found.end()) {
    known = m_found.try_emplace(segment).first;
    const std::int64_t blockSize = std::max(1, m_input.state().pool().blockSize());
    for (auto block = m_request->blocks.lower_bound({.segment = segment, .virtualIndex = 0});
         block != m_request->blocks.end() && block->first.segment == segment; ++block) {
      if (block->second.lookup == 0) continue;
      const auto index = m_input.trace->indexOf(block->second.lookup);
      if (!index) continue;
      const auto* lookup = std::get_if<trace::BlockLookedUp>(&m_input.trace->event(*index).payload);
      if (lookup != nullptr && lookup->tokens > 0) known->second.push_back(foundTokens(*lookup, blockSize));
    }
  }
  static const std::vector<std::int32_t> kNone;
  const auto again = m_again.find(segment);
  return accountOf(known->second, again == m_again.end() ? kNone : again->second, begin, end);
}

TokenAccount RequestAccount::prompt() {
  TokenAccount account;
  if (m_request == nullptr || m_request->admittedAt < 0) return account;
  for (std::uint32_t i = 0; i < m_request->segments.size(); ++i) {
    const trace::SegmentInfo& segment = m_request->segments[i];
    if (!segment.hidden)
      account += of(i, segment.visibleBegin, static_cast<std::int64_t>(segment.tokens.size()));
  }
  return account;
}

std::int64_t RequestAccount::beside() const {
  if (m_request == nullptr) return 0;
  std::int64_t visible = 0;
  for (const trace::SegmentInfo& segment : m_request->segments) {
    if (!segment.hidden) visible += static_cast<std::int64_t>(segment.tokens.size()) - segment.visibleBegin;
  }
  return std::max<std::int64_t>(0, m_request->promptTokens - visible);
}

}  // namespace spanscope::ui
