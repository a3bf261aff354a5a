// SPDX-License-Identifier: GPL-3.0-or-later
// A moment between two events of a trace. Views that show motion draw a moment of their input. The player of
// a trace sets the moment, because views have no clocks.
#pragma once

#include "ui/session/trace_store.h"

#include <cstddef>

namespace spanscope::ui {

/// The events [first, last) are in progress at the same time.
struct Moment {
  std::size_t first = 0;
  std::size_t last = 0;  ///< the position of the input to which the moment belongs
  double done = 1;       ///< progress of the events, from 0 (begin) to 1 (end)
  bool operator==(const Moment&) const = default;

  /// Whether a view at this position shows something in progress. If not, the view shows the state at rest.
  bool isUnderwayAt(std::size_t position) const { return done < 1 && first < last && last == position; }
};

/// Consecutive events that the user sees as one event. Examples: lookups of one segment with the same
/// outcome, its cache hits, the allocations of a request, a forward pass.
struct Beat {
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past the last event of the beat
  int milliseconds = 0;  ///< display time at normal speed
  bool operator==(const Beat&) const = default;
};

/// Returns the beat of the event at `position`, from `position` on. The trace must have an event there.
Beat beatFrom(const TraceStore& trace, std::size_t position);
/// Returns the beat of the event before `position`, up to `position`. There must be such an event.
Beat beatBefore(const TraceStore& trace, std::size_t position);

/// Returns an eased progress, which changes slowly at the start and the end: 0 → 0, 1 → 1.
double eased(double done);

}  // namespace spanscope::ui
