// SPDX-License-Identifier: GPL-3.0-or-later
// A moment between two events: views that show motion are a function of it, beside their input. Who plays a
// trace tells the moments; views have no clocks.
#pragma once

#include "ui/session/trace_store.h"

#include <cstddef>

namespace spanscope::ui {

/// The events [first, last) are underway, all at once.
struct Moment {
  std::size_t first = 0;
  std::size_t last = 0;  ///< the position of the input that this is a moment of
  double done = 1;       ///< how far they have got: 0 they begin … 1 they have happened
  bool operator==(const Moment&) const = default;

  /// Whether something is underway in what a view shows at this position. If not, it shows the state at rest.
  bool isUnderwayAt(std::size_t position) const { return done < 1 && first < last && last == position; }
};

/// Neighbouring events that a person sees happen as one: the lookups of one segment with the same outcome,
/// its found blocks, the allocations of a request, a pass.
struct Beat {
  std::size_t first = 0;
  std::size_t last = 0;  ///< one past its last event
  int milliseconds = 0;  ///< how long it is shown at normal speed
  bool operator==(const Beat&) const = default;
};

/// The beat that holds the event at `position`, from `position` on. The trace has an event there.
Beat beatFrom(const TraceStore& trace, std::size_t position);
/// The beat of the event before `position`, up to `position`. There is such an event.
Beat beatBefore(const TraceStore& trace, std::size_t position);

/// Starts and ends slowly: 0 → 0, 1 → 1.
double eased(double done);

}  // namespace spanscope::ui
