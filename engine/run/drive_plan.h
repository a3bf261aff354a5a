// SPDX-License-Identifier: GPL-3.0-or-later
// The loop that has the steps of plans computed, of one or of several at once. A run and its rehearsal go
// through the same one.
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
  RunId run = 0;
  trace::RunOutcome outcome = trace::RunOutcome::Finished;
  std::optional<Error> error;  ///< where it failed
};

/// Drives plans through one scheduler. Each pass computes rows of all of them; each ends by itself when its
/// steps have ended, one failed or it was stopped, and what is left of it then is aborted. What one of them
/// throws while it is laid out is its own error, what a pass throws is that of all.
class PlanDriver final : private RequestSource {
 public:
  /// `passBegins`, if given, is told what stops each pass. The scheduler must outlive it.
  explicit PlanDriver(Scheduler& scheduler, std::function<void(const std::stop_token&)> passBegins = nullptr);
  ~PlanDriver() override;
  PlanDriver(const PlanDriver&) = delete;
  PlanDriver& operator=(const PlanDriver&) = delete;

  /// `steps`, the scheduler's requests of `run`, must outlive their being driven. Of several plans those with
  /// the larger priority are asked for steps first, of equal ones those that began earlier. A stop is
  /// answered within the pass where all have been stopped, and else when the pass has ended, since the others
  /// go on with it.
  void begin(PlanSteps& steps, RunId run, std::int32_t priority, std::stop_token stop, DriveHooks hooks);

  bool isIdle() const { return m_plans.empty(); }

  /// Does one pass for all plans. Returns those that ended. Throws nothing.
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
  Plans m_plans;                         ///< in the order in which they are served
  Driven* m_asked = nullptr;             ///< the one that lays out a step
  int m_idlePasses = 0;                  ///< in a row
  std::mutex m_stopMutex;                ///< of the next two
  std::stop_source m_passStop;           ///< of the pass that goes on
  std::vector<std::stop_token> m_stops;  ///< of all plans
};

/// Drives one plan to its end. Throws nothing.
DrivenPlan drivePlan(Scheduler& scheduler, PlanSteps& steps, RunId run, const std::stop_token& stop,
                     const DriveHooks& hooks);

}  // namespace spanscope::run
