// SPDX-License-Identifier: GPL-3.0-or-later
// The loop that computes the steps of one plan, or of several plans together. A run and its prediction use
// the same loop. Open this file to change how several runs share passes.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/run/scheduler.h"
#include "engine/trace/event.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

namespace spanscope::run {

/// A plan as a source of requests. The scheduler asks it for its steps.
class PlanSteps : public RequestSource {
 public:
  virtual bool done() const = 0;                          ///< whether all steps have ended
  virtual std::size_t ended() const = 0;                  ///< number of steps that have ended
  virtual const std::optional<Error>& error() const = 0;  ///< the reason why a step failed; nothing if none
                                                          ///< failed
};

/// Functions that are called while a plan is driven. Each may be empty.
struct DriveHooks {
  std::function<void()> beforePass;
  std::function<void()> afterPass;
  std::function<void(const Error&)> onThrown;  ///< called before the remaining steps are aborted
};

struct DrivenPlan {
  RunId run = 0;
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;  ///< set if the plan failed
};

/// Drives several plans through one scheduler. Each pass computes rows of all plans. A plan ends when all its
/// steps have ended, when one of them failed, or on a stop. Its remaining steps are then aborted. An
/// exception of a layout is an error of its plan alone. An exception of a pass is an error of all plans.
class PlanDriver final : private RequestSource {
 public:
  /// `passBegins`, if given, is called before each pass with the token that stops the pass. `scheduler` must
  /// outlive the driver.
  explicit PlanDriver(Scheduler& scheduler, std::function<void(const std::stop_token&)> passBegins = nullptr);
  ~PlanDriver() override;
  PlanDriver(const PlanDriver&) = delete;
  PlanDriver& operator=(const PlanDriver&) = delete;

  /// Begins to drive a plan. `steps` must live until the plan has ended. Its requests have the number `run`
  /// in the scheduler. Plans with a larger priority are asked for steps first. Among plans of equal priority,
  /// the earlier plan is first. If all plans are stopped, the stop takes effect in the current pass.
  /// Otherwise it takes effect after the pass, because the other plans need the pass.
  void begin(PlanSteps& steps, RunId run, std::int32_t priority, std::stop_token stop, DriveHooks hooks);

  bool isIdle() const { return m_plans.empty(); }

  /// Computes one pass for all plans. Returns the plans that ended. Throws nothing.
  std::vector<DrivenPlan> advance();

 private:
  struct Driven;
  using Plans = std::list<std::unique_ptr<Driven>>;

  bool submitNext(Scheduler& scheduler) override;
  bool hasNext() const override;
  std::int32_t nextPriority() const override;
  Driven* nextPlan() const;
  std::size_t endedSteps() const;
  std::stop_token newPass();
  void stopPassIfAllStopped();
  void end(Plans::iterator plan, DrivenPlan result, std::vector<DrivenPlan>& ended);
  template <class Take>
  void endWhere(const Take& take, std::vector<DrivenPlan>& ended);

  Scheduler& m_scheduler;
  std::function<void(const std::stop_token&)> m_passBegins;
  Plans m_plans;                         ///< in the order of service
  Driven* m_asked = nullptr;             ///< the plan that lays out a step now, or null
  int m_idlePasses = 0;                  ///< consecutive passes that computed nothing and ended no step
  std::mutex m_stopMutex;                ///< guards the next two members
  std::stop_source m_passStop;           ///< stops the current pass
  std::vector<std::stop_token> m_stops;  ///< of all plans
};

/// Drives one plan to its end. Throws nothing.
DrivenPlan drivePlan(Scheduler& scheduler, PlanSteps& steps, RunId run, const std::stop_token& stop,
                     const DriveHooks& hooks);

}  // namespace spanscope::run
