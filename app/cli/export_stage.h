// SPDX-License-Identifier: GPL-3.0-or-later
// The stages at which a query can be written for a span server.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/command.h"
#include "engine/plan/planner.h"
#include "engine/plan/spnl/server_body.h"
#include "engine/query/query.h"
#include "engine/query/query_form.h"

#include <CLI/CLI.hpp>

#include <string>

namespace spanscope::cli {

void addStageOption(CLI::App& command, std::string& stage);

/// Writes the query in that form, JSON on one line: as it was read, simplified by one round, optimized as the
/// reference does, or lowered: one line of JSON for each bulk call that can be sent as it is, and a note on
/// standard error for each that cannot. Attention locality, if it is on, comes first. `name` is the file in
/// messages.
ExitCode writeStage(const query::Node& query, const std::string& stage, query::QueryForm form,
                    const plan::LocalityOptions& locality, const std::string& name, const Streams& streams);

/// Says on standard error which generates cannot be sent yet and why, and that nothing can if so.
void noteWithheld(const plan::spnl::ServerBodies& bodies, const std::string& name, const Streams& streams);

}  // namespace spanscope::cli
