// SPDX-License-Identifier: GPL-3.0-or-later
// The scheduler's state of a request and of a team. Open this file to add a state.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/kv_cache.h"
#include "engine/layout/span_table.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduler.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spanscope::run {

/// A request, from its submission until it has ended.
struct ScheduledRequest {
  enum class State : std::uint8_t { Waiting, Prefill, Decode, Ended };

  RequestId id = 0;
  layout::SpanTable table;
  RequestOptions options;
  State state = State::Waiting;
  std::optional<cache::Refusal> lastRefusal;  ///< the last refusal since the request began to wait
  std::uint64_t releasesAtRefusal = 0;        ///< value of m_releases at that refusal
  std::vector<std::int32_t> computed;         ///< per segment: positions [0, computed) are in the store
  std::vector<std::int32_t> computedBefore;  ///< per segment: largest `computed` at a preemption; empty: none
  std::vector<std::uint32_t> prefillOrder;   ///< all segments: first those not joint, then the joint segments
  std::uint32_t prefillPlace = 0;            ///< index in prefillOrder: the segment of the current prefill
  std::vector<TokenId> generated;  ///< tokens sampled so far; the last one has not been computed yet
  std::int32_t placed = 0;         ///< for members of teams: tokens of the last segment that have a slot
  bool isOver = false;             ///< the answer has ended; others of the team may still read it
  bool isTold = false;             ///< the trace has the event that the team has formed

  /// Whether the next token of the answer must not be an end token.
  bool barsEnd() const {
    return static_cast<std::int64_t>(generated.size()) < options.minNewTokens && !options.endTokens.empty();
  }
  bool running() const { return state == State::Prefill || state == State::Decode; }
  std::uint32_t lastSegment() const { return static_cast<std::uint32_t>(table.segments.size() - 1); }
  /// Returns the tokens of a segment, including those of the answer.
  std::int32_t length(std::uint32_t index) const {
    const std::int32_t prompt = table.segments[index].length();
    return index == lastSegment() ? prompt + static_cast<std::int32_t>(generated.size()) : prompt;
  }
  /// Returns the position in the last segment at which the generated tokens begin.
  std::int32_t generatedFrom() const {
    return options.replay ? options.replay->firstRow + 1 : table.segments.back().length();
  }
  /// Whether keys and values of the answer differ from those of the same tokens elsewhere.
  bool replyIsItsOwn() const { return options.rows.reply != nullptr; }
  /// Whether position `begin` of the segment is a generated token whose row reads as the policy says.
  bool readsAsReply(std::uint32_t index, std::int32_t begin) const {
    return replyIsItsOwn() && index == lastSegment() && begin >= generatedFrom();
  }
  /// Returns the tokens of a segment that are computed before any token is generated, or recomputed after a
  /// preemption.
  std::int32_t prefillLength(std::uint32_t index) const {
    return options.team && index == lastSegment() ? table.segments[index].length() : length(index);
  }
  /// For a member of a team: returns the number of its generated tokens that are computed.
  std::int32_t repliedRows() const { return computed.back() - generatedFrom(); }
  /// For a member of a team: returns the number of its generated tokens that will be computed.
  std::int32_t wantedRows() const {
    const bool hasLast = isOver || !options.given.empty();  // no token comes after the last one
    return static_cast<std::int32_t>(generated.size()) - (hasLast ? 1 : 0);
  }
  /// Returns how many of the computed positions [0, end) of a segment may be hits of other requests.
  std::int32_t storable(std::uint32_t index, std::int32_t end) const {
    if (index != lastSegment()) return end;
    if (options.replay) end = std::min(end, options.replay->firstRow);
    return replyIsItsOwn() ? std::min(end, generatedFrom()) : end;
  }
  /// Returns the end of the positions that were already computed before a preemption.
  std::int32_t repeatedEnd(std::uint32_t index) const {
    return computedBefore.empty() ? 0 : computedBefore[index];
  }
};

// Requests that generate together (TeamPlace).

class Team {
 public:
  /// The team of `member`, among the submitted requests that have not ended.
  Team(const std::vector<std::unique_ptr<ScheduledRequest>>& requests, const ScheduledRequest& member);

  /// Returns the members in the order of their places.
  const std::vector<ScheduledRequest*>& members() const { return m_members; }
  /// Whether all members have been submitted and none has failed.
  bool isWhole() const { return m_members.size() == m_size; }
  /// Whether the team is whole and all members have computed their prompts.
  bool isReady() const;
  /// Whether the team is whole and all answers have ended.
  bool isOver() const;

 private:
  std::vector<ScheduledRequest*> m_members;
  std::uint32_t m_size = 0;
};

}  // namespace spanscope::run
