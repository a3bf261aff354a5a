// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/run_printer.h"
#include "engine/plan/plan.h"
#include "engine/run/run_result.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace spanscope::cli {

/// How the tokens of prompts got their keys and values, and what else counts tokens of prompts: the metrics
/// with a key. What is not known is null.
nlohmann::ordered_json accountJson(const metrics::Totals& totals);

/// One run as JSON: outcome, answer, and each step with its tokens and times (milliseconds). `totals`: by
/// step.
nlohmann::ordered_json runToJson(const std::string& file, const plan::Plan& plan,
                                 const run::RunResult& result, const SpanCounts& spans,
                                 const LoadCounts& loads, const std::vector<metrics::Totals>& totals);

}  // namespace spanscope::cli
