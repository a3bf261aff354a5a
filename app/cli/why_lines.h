// SPDX-License-Identifier: GPL-3.0-or-later
// What `spanq explain --why` says of the blocks that a step will not find: why, and what would make them
// hits.
#pragma once

#include "engine/cache/what_if.h"
#include "engine/run/prediction.h"
#include "engine/text/tokenizer.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace spanscope::cli {

/// A table of the blocks that are not found, as lines of text, each ended by a newline. Neighbouring blocks
/// with the same cause share a line. Empty if all blocks are found. Predicted runs have the numbers of the
/// queries, from 1.
std::string whyTable(const run::StepPrediction& step, const text::Tokenizer& tokenizer);

/// The changes that would make one block a hit, as JSON.
nlohmann::ordered_json changesJson(const run::StepPrediction& step,
                                   const std::vector<cache::WhatIf>& changes);

}  // namespace spanscope::cli
