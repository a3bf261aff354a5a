// SPDX-License-Identifier: GPL-3.0-or-later
// Starts jobs of the engine other than runs (engine/jobs), and requests their estimates.
#pragma once

#include "engine/jobs/job_call.h"
#include "ui/session/run_inputs.h"

#include <QString>

#include <functional>
#include <string>

namespace spanscope::ui {

class Workspace;

/// Starts a job of any kind for the current document. The result is in the trace. `asker` answers questions
/// of a measured query. `read` is JobInput::read. Returns the reason if the job was not started, otherwise an
/// empty text.
QString startJob(Workspace& workspace, const jobs::JobCall& call, const Asker& asker = {},
                 const std::function<std::string(const std::string& name)>& read = {});

/// Starts an estimate of a job of the current document, if the document's model is loaded.
/// Workspace::setEstimate() gets the result.
void estimateJob(Workspace& workspace, const jobs::JobCall& call);

}  // namespace spanscope::ui
