// SPDX-License-Identifier: GPL-3.0-or-later
// Extracts the events of one run from a session's trace. Other runs may have been in progress at the same
// time.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "ui/session/trace_store.h"

#include <vector>

namespace spanscope::ui {

/// Returns the events of one run as a trace. The trace begins with the state of the session at the start of
/// the run. Returns nothing if the run does not start in this trace.
///
/// The trace contains:
/// - Every event that names the run.
/// - Each forward pass that computed rows of the run, with only these rows but its whole time.
/// - Until the run has ended: changes of the shared pool, and events of the session.
///
/// A change of the pool by another run has that run's number (Event::run), but no request and no node. The
/// number of earlier events that were left out is subtracted from each sequence number.
std::vector<trace::Event> runPart(const TraceStore& trace, RunId run);

}  // namespace spanscope::ui
