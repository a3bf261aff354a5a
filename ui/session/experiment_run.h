// SPDX-License-Identifier: GPL-3.0-or-later
// An experiment that runs, or has run, on the engine's thread: what was asked for and the results so far.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/workbench/settings.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace spanscope::ui {

enum class ExperimentState : std::uint8_t {
  Running,
  Finished,
  Stopped,  ///< by a person; the results up to then are kept
  Failed,   ///< see `problem`; the results up to then are kept
};

struct ExperimentRun {
  ExperimentState state = ExperimentState::Running;
  experiment::ExperimentResult result;
  QString problem{};
};

/// Everything an experiment needs, as values.
struct ExperimentRequest {
  workbench::RunSettings settings;  ///< model, device, and the pool of the sessions that the experiment opens
  experiment::ExperimentWish wish;
};

/// A wish as the argument of the command "run.experiment": "rag;documents=1,2,4;repeats=5".
QString experimentWishText(const experiment::ExperimentWish& wish);
/// Returns nothing if the text is no such argument. It does not check the values: experiment::completed()
/// does that.
std::optional<experiment::ExperimentWish> readExperimentWish(const QString& text);

}  // namespace spanscope::ui
