// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/experiment/experiment.h"
#include "engine/run/session_config.h"
#include "engine/workbench/model_bundle.h"

namespace spanscope::workbench {

/// A loaded model as experiments take it; the bundle must outlive what this returns. `config`: of the
/// sessions that they open on it.
experiment::ExperimentModel experimentModelOf(ModelBundle& bundle, const run::SessionConfig& config);

}  // namespace spanscope::workbench
