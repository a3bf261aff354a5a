// SPDX-License-Identifier: GPL-3.0-or-later
// Adapts a loaded model for experiments. Open this file to give experiments another fact of the model.
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/run/run_options.h"
#include "engine/workbench/model_bundle.h"

namespace spanscope::workbench {

/// Returns a loaded model in the form for experiments. The bundle must outlive the result. `config` is the
/// configuration of the sessions that experiments open. These sessions have no tiers beside the pool.
experiment::ExperimentModel experimentModelOf(ModelBundle& bundle, const run::SessionConfig& config);

}  // namespace spanscope::workbench
