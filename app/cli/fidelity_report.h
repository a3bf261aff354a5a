// SPDX-License-Identifier: GPL-3.0-or-later
// What `run --fidelity` says of a run.
#pragma once

#include "app/cli/command.h"
#include "engine/experiment/fidelity.h"
#include "engine/plan/plan.h"
#include "engine/run/finished_reply.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/trace/event.h"
#include "engine/trace/sink.h"
#include "engine/workbench/model_bundle.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace spanscope::cli {

struct MeasuredStep {
  RequestId request = 0;
  trace::FidelityMeasured fidelity;
};

/// Measures the replies of the session's last run, one after the other, and sends an event for each. If a
/// reply cannot be measured, standard error says why. After a stop request the remaining replies are left
/// out.
std::vector<MeasuredStep> measureReplies(run::Session& session, workbench::ModelBundle& bundle,
                                         experiment::FinishedReplies& gathered, const Context& context,
                                         trace::Sink& sink);

/// A table with one row for each step, and below them the run as a whole.
std::string fidelityReport(const plan::Plan& plan, const run::RunResult& result,
                           const std::vector<MeasuredStep>& measured);

/// The figures of the run, and every step with every token, as JSON.
nlohmann::ordered_json fidelityJson(const plan::Plan& plan, const run::RunResult& result,
                                    const std::vector<MeasuredStep>& measured);

}  // namespace spanscope::cli
