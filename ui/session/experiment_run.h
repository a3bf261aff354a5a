// SPDX-License-Identifier: GPL-3.0-or-later
// An experiment that the engine carries out, or has: what was asked for and what came of it so far.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/workbench/service/job.h"

#include <QString>

#include <optional>

namespace spanscope::ui {

struct ExperimentRun {
  workbench::JobState state = workbench::JobState::Waiting;
  experiment::ExperimentResult result;
  QString problem{};  ///< why it failed; what was measured by then stands
};

/// A wish as the argument of the command "run.experiment": "rag;documents=1,2,4;repeats=5", with "source=own"
/// for the documents of the query in view. It does not hold ExperimentRequest::own.
QString experimentRequestText(const experiment::ExperimentRequest& request);
/// The argument that only asks how long the wish would take.
QString experimentEstimateText(const QString& request);
/// The text of the wish in such an argument; null: the text is none.
QString askedEstimate(const QString& text);
/// Returns nothing if the text is no such argument. It does not check the values: experiment::completed()
/// does that.
std::optional<experiment::ExperimentRequest> readExperimentRequest(const QString& text);

}  // namespace spanscope::ui
