// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/run/run_options.h"
#include "engine/workbench/model_bundle.h"

namespace spanscope::workbench {

/// A loaded model in the form that experiments use. The bundle must outlive the result. `config`: of the
/// sessions that experiments open on the model; they have no tiers beside the pool.
experiment::ExperimentModel experimentModelOf(ModelBundle& bundle, const run::SessionConfig& config);

}  // namespace spanscope::workbench
