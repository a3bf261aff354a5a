// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/run_printer.h"
#include "engine/experiment/fidelity.h"
#include "engine/run/run_options.h"
#include "engine/run/run_result.h"
#include "engine/run/session.h"
#include "engine/trace/recorder.h"

#include <stop_token>

namespace spanscope::cli {

/// Runs a plan on a separate thread and shows its events as they come, so that the engine never waits for the
/// terminal. Returns when the run has ended and all its events were shown. If `replies` is not null, it gets
/// the events too.
run::RunResult runLive(run::Session& session, const plan::Plan& plan, const run::RunOptions& options,
                       trace::Recorder& recorder, RunPrinter& view, std::stop_token stop,
                       experiment::FinishedReplies* replies = nullptr);

}  // namespace spanscope::cli
