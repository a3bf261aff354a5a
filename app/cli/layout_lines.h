// SPDX-License-Identifier: GPL-3.0-or-later
// Text and JSON about layouts. `spanq explain --layouts` compares the prompts of a plan in each layout.
// `spanq run` reports the layout of a run.
#pragma once

#include "engine/experiment/layout_comparison.h"
#include "engine/metrics/token_account.h"
#include "engine/run/prediction.h"

#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::cli {

/// ", layout padded", to follow the policy of a run; empty for the exact layout.
std::string layoutWords(layout::Layout layout);

/// A table with one line for each layout and block size, each ended by a newline.
std::string layoutTable(const experiment::LayoutComparison& comparison);
/// The same table as JSON.
nlohmann::ordered_json layoutsJson(const experiment::LayoutComparison& comparison);

/// Token counts of the prompts of a run in its layout, as JSON.
nlohmann::ordered_json layoutJson(const metrics::LayoutMetrics& counts);

// Predicted counts as text and JSON.

/// "12", "12–40" or "12 or more".
std::string rangeText(const run::CountRange& range);

/// {"least":12,"most":40}; an unknown `most` is null.
nlohmann::ordered_json rangeJson(const run::CountRange& range);

}  // namespace spanscope::cli
