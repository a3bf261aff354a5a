// SPDX-License-Identifier: GPL-3.0-or-later
// Policies in experiments are texts, with parameters where they have any. Only this file of the folder knows
// the meaning of such a text.
#pragma once

#include "engine/run/run_options.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

/// All policies with their usual parameters: "spans,prefix".
std::string everyPolicy();
/// Splits such a list into policies; commas within parentheses do not separate. Throws Failure that lists the
/// known policies if one is unknown.
std::vector<std::string> splitPolicies(std::string_view list);
/// Makes runs use a policy that splitPolicies() returned.
void usePolicy(run::RunOptions& options, std::string_view policy);

}  // namespace spanscope::experiment
