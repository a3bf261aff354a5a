// SPDX-License-Identifier: GPL-3.0-or-later
// What happened in a range of the trace, added up.
#pragma once

#include "engine/trace/token_account.h"
#include "ui/session/trace_store.h"

#include <QString>

#include <cstddef>
#include <cstdint>

namespace spanscope::ui {

/// Events [begin, end) of a trace.
struct EventRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool isEmpty() const { return begin >= end; }
  bool operator==(const EventRange&) const = default;
};

struct RangeTotals {
  EventRange range;
  std::int64_t nanoseconds = 0;  ///< from the event before the range to its last one
  /// Prompt tokens of all runs, each where its fate shows: found tokens at their lookup, those that the
  /// policy computes again where it says so, computed ones at their pass. Over a whole trace they are the
  /// accounts of its requests. What a pass computes once more after a preemption does not count.
  trace::TokenAccount tokens;
  std::int64_t generated = 0;  ///< tokens
  std::int64_t allocated = 0;  ///< blocks
  std::int64_t evicted = 0;    ///< blocks
  std::int64_t requests = 0;   ///< that the events are about
  bool operator==(const RangeTotals&) const = default;
};

/// `range` must lie in the trace. Takes time for the events of the range and for what their requests looked
/// up.
RangeTotals rangeTotals(const TraceStore& trace, const EventRange& range);

/// "events 61 to 118 · 24.1 ms · 2 requests · …", on one line.
QString rangeText(const RangeTotals& totals);

}  // namespace spanscope::ui
