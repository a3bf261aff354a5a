// SPDX-License-Identifier: GPL-3.0-or-later
// The stages at which a query can be written for a span server.
#pragma once

#include "app/cli/cli11_forward.h"
#include "engine/plan/planner.h"
#include "engine/query/query.h"

#include <string>

namespace spanscope::cli {

void addStageOption(CLI::App& command, std::string& stage);

/// The query after attention locality, if that is on. `name` names the file in messages. Throws Failure.
query::Node localized(const query::Node& query, const plan::LocalityOptions& locality,
                      const std::string& name);

}  // namespace spanscope::cli
