// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/run_printer.h"
#include "engine/plan/plan.h"
#include "engine/run/run_result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace spanscope::cli {

/// One run as JSON: outcome, answer, and each step with its tokens and times (milliseconds). `accounts`: by
/// step.
nlohmann::ordered_json runToJson(const std::string& file, const plan::Plan& plan,
                                 const run::RunResult& result, const SpanCounts& spans,
                                 const LoadCounts& loads, const std::vector<trace::PromptAccount>& accounts);

}  // namespace spanscope::cli
