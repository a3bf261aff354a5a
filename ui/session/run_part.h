// SPDX-License-Identifier: GPL-3.0-or-later
// What of a session's trace belongs to one run, where other runs may have been in progress beside it.
#pragma once

#include "engine/base/ids.h"
#include "engine/trace/event.h"
#include "ui/session/trace_store.h"

#include <vector>

namespace spanscope::ui {

/// The events of one run, as a trace that begins with the state that the session had when the run started;
/// empty if the run does not start in this trace.
///
/// It holds every event that names the run. Of the passes it holds those that computed rows of the run, with
/// these rows alone; a pass takes as long as it took all of its runs. Until the run has ended, it also holds
/// what happened to the pool that the run shared with others, and what the session said. Such a change of the
/// pool still names the other run that made it (Event::run), but no request and no node of it. Numbers of
/// events follow each other as in the session; they are smaller by what was left out.
std::vector<trace::Event> runPart(const TraceStore& trace, RunId run);

}  // namespace spanscope::ui
