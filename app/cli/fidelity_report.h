// SPDX-License-Identifier: GPL-3.0-or-later
// What `run --fidelity` says of a run.
#pragma once

#include "app/cli/command.h"
#include "app/cli/command_service.h"
#include "engine/experiment/fidelity.h"
#include "engine/jobs/fidelity.h"
#include "engine/plan/plan.h"
#include "engine/run/run_result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace spanscope::cli {

using MeasuredStep = jobs::FidelityJob::Found;

/// Measures the replies of a run of the service, one after the other. If a reply cannot be measured, standard
/// error says why. After a stop the remaining replies are left out.
std::vector<MeasuredStep> measureReplies(CommandService& service, RunId run,
                                         experiment::FinishedReplies& gathered, const Context& context);

/// A table with one row for each step, and below them the run as a whole.
std::string fidelityReport(const plan::Plan& plan, const run::RunResult& result,
                           const std::vector<MeasuredStep>& measured);

/// The figures of the run, and every step with every token, as JSON.
nlohmann::ordered_json fidelityJson(const plan::Plan& plan, const run::RunResult& result,
                                    const std::vector<MeasuredStep>& measured);

}  // namespace spanscope::cli
