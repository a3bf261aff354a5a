// SPDX-License-Identifier: GPL-3.0-or-later
// Whether a run has room: its prompts in the model's context, its prompts and answers in the pool.
#pragma once

#include "engine/base/error.h"
#include "engine/run/prediction.h"
#include "engine/run/session_config.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace spanscope::run {

struct PlanFit {
  std::optional<Error> error{};  ///< why a run of the plan fails; nothing: it fits
  /// False: the run fails only if answers get long, or only if they are short.
  bool isCertain = false;
  /// The smallest number of blocks, null block included, of a pool that holds the run. 0: it fits, or no pool
  /// helps.
  std::int32_t blocksNeeded = 0;
  bool operator==(const PlanFit&) const = default;
};

/// Predicts the same plan for a session with an empty cache.
using PredictInSession = std::function<Prediction(const SessionConfig& session)>;

/// Says whether a run fits the empty pool of a session. `empty` is its prediction there. If the run does not
/// fit, the function looks for the smallest pool that is large enough. Each try calls `predict` once. Returns
/// nothing if a prediction was stopped.
std::optional<PlanFit> planFit(const Prediction& empty, const SessionConfig& session,
                               const PredictInSession& predict);

}  // namespace spanscope::run
