// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/drive_plan.h"

#include <exception>
#include <string>

namespace spanscope::run {
namespace {

/// A pass may have nothing to compute, as where it only ended replies for which the context has no more room;
/// the next one goes on from there. So many of them that end nothing mean that none ever will.
constexpr int kMostIdlePasses = 16;

Error unexpected(const std::string& found) {
  return {.file = {}, .place = "run", .found = found, .expected = "a pass that ends"};
}

}  // namespace

DrivenPlan drivePlan(Scheduler& scheduler, PlanSteps& steps, RunId run, const std::stop_token& stop,
                     const DriveHooks& hooks) {
  DrivenPlan driven;
  try {
    int idle = 0;
    while (!steps.done() && !steps.error()) {
      if (hooks.beforePass) hooks.beforePass();
      const std::size_t ended = steps.ended();
      const Scheduler::Progress progress =
          stop.stop_requested() ? Scheduler::Progress::Stopped : scheduler.pass(stop, &steps);
      if (hooks.afterPass) hooks.afterPass();
      if (progress == Scheduler::Progress::Stopped) {
        driven.outcome = trace::RunOutcome::Stopped;
        break;
      }
      const bool isIdle = progress == Scheduler::Progress::Idle && steps.ended() == ended;
      idle = isIdle ? idle + 1 : 0;
      if (idle > kMostIdlePasses) throw Failure(unexpected("steps none of which can go on"));
    }
  } catch (const Failure& failure) {
    // A text that was being encoded is let go of by one.
    if (stop.stop_requested()) {
      driven.outcome = trace::RunOutcome::Stopped;
    } else {
      driven.error = failure.error();
    }
  } catch (const std::exception& exception) {
    // Nobody foresaw it, e.g. memory that could not be had.
    driven.error = unexpected(exception.what());
  }
  if (driven.error && hooks.onThrown) hooks.onThrown(*driven.error);
  if (steps.error()) driven.error = steps.error();
  if (driven.error) driven.outcome = trace::RunOutcome::Failed;
  if (driven.outcome != trace::RunOutcome::Finished) scheduler.abort(run);
  return driven;
}

}  // namespace spanscope::run
