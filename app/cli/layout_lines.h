// SPDX-License-Identifier: GPL-3.0-or-later
// What `spanq explain --layouts` says: what each layout does to the prompts of a plan, side by side; and what
// `spanq run` says of the layout that a run had.
#pragma once

#include "engine/experiment/layout_comparison.h"
#include "engine/trace/layout_figures.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::cli {

/// ", layout padded", behind the policy of a run; empty for the exact one.
std::string layoutWords(layout::Layout layout);

/// A table with a line a layout and block size. Lines of text, each ended by a newline.
std::string layoutTable(const experiment::LayoutComparison& comparison);
/// The same for programs.
nlohmann::ordered_json layoutsJson(const experiment::LayoutComparison& comparison);

/// What a layout did to the prompts of a run.
nlohmann::ordered_json layoutJson(const trace::LayoutFigures& figures);

}  // namespace spanscope::cli
