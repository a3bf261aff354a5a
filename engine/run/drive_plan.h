// SPDX-License-Identifier: GPL-3.0-or-later
// The loop that has a plan's steps computed. A run and its rehearsal go through the same one.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/run/scheduler.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>

namespace spanscope::run {

/// A plan whose steps a scheduler asks for.
class PlanSteps : public RequestSource {
 public:
  virtual bool done() const = 0;                          ///< all steps have ended
  virtual std::size_t ended() const = 0;                  ///< so many have
  virtual const std::optional<Error>& error() const = 0;  ///< why one failed
};

/// What is done on the way; each may be empty.
struct DriveHooks {
  std::function<void()> beforePass;
  std::function<void()> afterPass;
  std::function<void(const Error&)> onThrown;  ///< before the steps are aborted that are left
};

struct DrivenPlan {
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;  ///< where it failed
};

/// Does passes until all steps have ended, one failed or it was stopped; what is left then is aborted. Throws
/// nothing: what is thrown on the way is the error.
DrivenPlan drivePlan(Scheduler& scheduler, PlanSteps& steps, RunId run, const std::stop_token& stop,
                     const DriveHooks& hooks);

}  // namespace spanscope::run
