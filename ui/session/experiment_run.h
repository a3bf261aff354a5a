// SPDX-License-Identifier: GPL-3.0-or-later
// An experiment that runs on the engine's thread, or has: what was asked for and what came of it so far.
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
  Stopped,  ///< by a person; what was measured stands
  Failed,   ///< see `problem`; what was measured stands
};

struct ExperimentRun {
  ExperimentState state = ExperimentState::Running;
  experiment::ExperimentResult result;
  QString problem{};
};

/// Everything an experiment needs, as values.
struct ExperimentRequest {
  workbench::RunSettings settings;  ///< model and device, and the pool of the sessions it opens
  experiment::ExperimentWish wish;
};

/// A wish as the argument of the command "run.experiment": "rag;documents=1,2,4;repeats=5".
QString experimentWishText(const experiment::ExperimentWish& wish);
/// Nothing where it is none. Values are not checked: experiment::completed() does that.
std::optional<experiment::ExperimentWish> readExperimentWish(const QString& text);

}  // namespace spanscope::ui
