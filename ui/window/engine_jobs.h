// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs of the engine besides runs (engine/jobs), as the user asks for them.
#pragma once

#include "engine/jobs/job_call.h"
#include "ui/session/run_inputs.h"

#include <QString>

namespace spanscope::ui {

class Workspace;

/// Starts a job of any kind for the current document. Its result is in the trace. `asker` answers questions
/// of the query, if the job measures it. Returns why the job was not started, in words; nothing if it was.
QString startJob(Workspace& workspace, const jobs::JobCall& call, const Asker& asker = {});

/// Has the engine estimate a job of the current document, if the document's model is loaded.
/// Workspace::setEstimate() gets the result.
void estimateJob(Workspace& workspace, const jobs::JobCall& call);

}  // namespace spanscope::ui
