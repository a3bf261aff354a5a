// SPDX-License-Identifier: GPL-3.0-or-later
// Policies as experiments have them: as text, with parameters where they have any. The one place of this
// folder that knows what a policy's text means.
#pragma once

#include "engine/run/run_options.h"

#include <string>
#include <string_view>
#include <vector>

namespace spanscope::experiment {

/// All policies with their usual parameters: "spans,prefix".
std::string everyPolicy();
/// The policies of such a list; commas within parentheses do not part them. Throws Failure that names the
/// policies there are where one of them is none.
std::vector<std::string> splitPolicies(std::string_view list);
/// Has runs go by a policy that splitPolicies() gave.
void usePolicy(run::RunOptions& options, std::string_view policy);

}  // namespace spanscope::experiment
