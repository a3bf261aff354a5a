// SPDX-License-Identifier: GPL-3.0-or-later
// The stages at which a query can be written for a span server.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/cli11_forward.h"
#include "app/cli/target_warnings.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"
#include "engine/query/query_form.h"

#include <string>

namespace spanscope::cli {

void addStageOption(CLI::App& command, std::string& stage);

/// The query with attention locality, if it is on; `name` is the file in messages. Throws Failure.
query::Node localized(const query::Node& query, const plan::LocalityOptions& locality,
                      const std::string& name);

/// Writes the query in that form, JSON on one line: as it was read, simplified by one round, or optimized as
/// the reference does. Throws Failure.
ExitCode writeStage(const Outgoing& outgoing, query::QueryForm form, const Streams& streams);

/// Writes one line of JSON for each bulk call that can be sent as it is.
ExitCode writeCalls(const Outgoing& outgoing, const Streams& streams);

/// Says that no call can be sent.
ExitCode refuseCalls(const Outgoing& outgoing, const Streams& streams);

}  // namespace spanscope::cli
