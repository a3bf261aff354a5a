// SPDX-License-Identifier: GPL-3.0-or-later
// What `spanq explain --why` says of the blocks that a step will not find: why, and what would make hits of
// them.
#pragma once

#include "engine/cache/what_if.h"
#include "engine/run/prediction.h"
#include "engine/text/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::cli {

/// A table of the blocks that are not found, neighbours of one cause together; empty where all are. Lines of
/// text, each ended by a newline. Predicted runs are numbered as the queries are, from 1.
std::string whyTable(const run::StepPrediction& step, const text::Tokenizer& tokenizer);

/// The changes that would make a hit of one block.
nlohmann::ordered_json changesJson(const run::StepPrediction& step,
                                   const std::vector<cache::WhatIf>& changes);

}  // namespace spanscope::cli
