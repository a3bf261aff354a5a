// SPDX-License-Identifier: GPL-3.0-or-later
// Bounds of what it computes to measure one query, from a prediction of its run with an empty cache.
#pragma once

#include "engine/experiment/token_amount.h"
#include "engine/plan/plan.h"
#include "engine/run/prediction.h"

#include <cstddef>
#include <cstdint>

namespace spanscope::experiment {

/// One run. `empty`: predicted with an empty cache.
TokenAmount coldAmount(const run::Prediction& empty, const plan::Plan& plan);

/// measureRepeats(): a turn to warm up and `repeats` more, each with every case, of which only the cold one
/// is sure to compute the whole prompt.
TokenAmount repeatsAmount(const TokenAmount& cold, std::int32_t repeats);

/// A cold run, a full prefill of its prompts and replies beside the policy's own, and a run in another order,
/// for each policy. A policy may compute parts of a prompt twice.
TokenAmount comparisonAmount(const TokenAmount& cold, std::size_t policies);

}  // namespace spanscope::experiment
