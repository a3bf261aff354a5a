// SPDX-License-Identifier: GPL-3.0-or-later
// What the user asks of the engine besides runs: jobs about answers, of any kind, and measurements. Each
// function returns why not, in words; nothing if it was submitted.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/jobs/job_call.h"
#include "ui/session/benchmark.h"
#include "ui/session/run_inputs.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

class Workspace;

/// Has a job about answers of the current document done. What comes of it is in the trace.
QString startJob(Workspace& workspace, const jobs::JobCall& call);
/// Measures the current document: its query, or made-up documents on its model. `asker` answers questions of
/// the query.
QString startBenchmark(Workspace& workspace, const BenchmarkRequest& request, const Asker& asker = {});
/// Runs the query of the current document under these policies, given as documents write them. `asker`
/// answers questions of the query.
QString startPolicyComparison(Workspace& workspace, const std::vector<std::string>& policies,
                              const Asker& asker = {});
/// Carries an experiment out on the model of the current document. It is the program's: every tab shows it,
/// and there is one at a time. Where it is wished, it takes documents and question from the query of the
/// current document; `asker` answers questions of that query.
QString startExperiment(Workspace& workspace, const experiment::ExperimentRequest& request,
                        const Asker& asker = {});

/// Has the engine count how long an experiment would take on the model of the current document, where that
/// one is loaded: Workspace::setEstimate() gets what came of it.
void estimateExperiment(Workspace& workspace, const QString& request);

}  // namespace spanscope::ui
