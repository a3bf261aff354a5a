// SPDX-License-Identifier: GPL-3.0-or-later
// What the scheduler knows of a request.
#pragma once

#include "engine/base/ids.h"
#include "engine/cache/kv_cache.h"
#include "engine/layout/span_table.h"
#include "engine/run/request_options.h"
#include "engine/run/scheduler.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::run {

/// A request from when it is submitted until it has ended.
struct ScheduledRequest {
  enum class State : std::uint8_t { Waiting, Prefill, Decode, Ended };

  RequestId id = 0;
  layout::SpanTable table;
  RequestOptions options;
  State state = State::Waiting;
  std::optional<cache::Refusal> lastRefusal;  ///< since it began to wait
  std::uint64_t releasesAtRefusal = 0;        ///< m_releases then
  std::vector<std::int32_t> computed;         ///< per segment: local tokens [0, computed) are in the store
  std::vector<std::int32_t> computedBefore;   ///< the same when it was preempted; empty: never was
  std::vector<std::uint32_t> prefillOrder;    ///< all segments: those that are not joint, then the joint ones
  std::uint32_t prefillPlace = 0;             ///< in that order: the segment that the prefill has come to
  std::vector<TokenId> generated;             ///< sampled so far; the last one has not been computed yet
  std::int32_t placed = 0;  ///< tokens of the last segment that have a slot; of members of teams
  bool isOver = false;      ///< the reply has ended; others of a team may still read it
  bool isTold = false;      ///< that its team has formed

  bool running() const { return state == State::Prefill || state == State::Decode; }
  std::uint32_t lastSegment() const { return static_cast<std::uint32_t>(table.segments.size() - 1); }
  /// Tokens of a segment, those of the reply included.
  std::int32_t length(std::uint32_t index) const {
    const std::int32_t prompt = table.segments[index].length();
    return index == lastSegment() ? prompt + static_cast<std::int32_t>(generated.size()) : prompt;
  }
  /// Local token of the last segment from which on they are generated ones.
  std::int32_t generatedFrom() const {
    return options.replay ? options.replay->firstRow + 1 : table.segments.back().length();
  }
  /// Keys and values of the reply are not those that its tokens have elsewhere.
  bool replyIsItsOwn() const { return options.rows.reply != nullptr; }
  /// Local token `begin` of the segment is a generated one whose row reads in its policy's own way.
  bool readsAsReply(std::uint32_t index, std::int32_t begin) const {
    return replyIsItsOwn() && index == lastSegment() && begin >= generatedFrom();
  }
  /// Tokens of a segment that are computed before any is generated, or once more after it gave way.
  std::int32_t prefillLength(std::uint32_t index) const {
    return options.team && index == lastSegment() ? table.segments[index].length() : length(index);
  }
  /// Of a member of a team: so many of its generated tokens are computed, and so many are to be.
  std::int32_t repliedRows() const { return computed.back() - generatedFrom(); }
  std::int32_t wantedRows() const {
    const bool hasLast = isOver || !options.given.empty();  // nothing comes after it
    return static_cast<std::int32_t>(generated.size()) - (hasLast ? 1 : 0);
  }
  /// Of the local tokens [0, end) of a segment that are computed so many may be found by others.
  std::int32_t storable(std::uint32_t index, std::int32_t end) const {
    if (index != lastSegment()) return end;
    if (options.replay) end = std::min(end, options.replay->firstRow);
    return replyIsItsOwn() ? std::min(end, generatedFrom()) : end;
  }
  /// The next row of this segment at `begin` was computed before, and so are those up to here.
  std::int32_t repeatedEnd(std::uint32_t index) const {
    return computedBefore.empty() ? 0 : computedBefore[index];
  }
};

}  // namespace spanscope::run
