// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/drive_plan.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <string>
#include <utility>

namespace spanscope::run {
namespace {

/// A pass may have nothing to compute. For example, it may only end answers whose context is full. The next
/// pass then continues from there. If this many consecutive passes end no step, no pass ever will.
constexpr int kMostIdlePasses = 16;

Error unexpected(const std::string& found) {
  return {.file = {}, .place = "run", .found = found, .expected = "a pass that ends"};
}

struct Thrown {
  Error error;
  bool isForeseen = true;
};

/// Returns the exception of `work`, or nothing.
template <class Work>
std::optional<Thrown> thrownBy(const Work& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return Thrown{.error = failure.error()};
  } catch (const std::exception& exception) {
    // E.g. missing memory.
    return Thrown{.error = unexpected(exception.what()), .isForeseen = false};
  }
  return std::nullopt;
}

}  // namespace

struct PlanDriver::Driven {
  Driven(PlanSteps& ofPlan, RunId ofRun, std::int32_t itsPriority, std::stop_token itsStop,
         DriveHooks itsHooks)
      : steps(ofPlan),
        run(ofRun),
        priority(itsPriority),
        stop(std::move(itsStop)),
        hooks(std::move(itsHooks)) {}

  PlanSteps& steps;
  RunId run = 0;
  std::int32_t priority = 0;
  std::stop_token stop;
  DriveHooks hooks;
  /// Stops the pass if all plans have been stopped.
  std::optional<std::stop_callback<std::function<void()>>> whenStopped;

  bool isStopped() const { return stop.stop_requested(); }
};

PlanDriver::PlanDriver(Scheduler& scheduler, std::function<void(const std::stop_token&)> passBegins)
    : m_scheduler(scheduler), m_passBegins(std::move(passBegins)) {}

PlanDriver::~PlanDriver() = default;

void PlanDriver::begin(PlanSteps& steps, RunId run, std::int32_t priority, std::stop_token stop,
                       DriveHooks hooks) {
  const auto place = std::find_if(m_plans.begin(), m_plans.end(),
                                  [priority](const auto& other) { return other->priority < priority; });
  {
    const std::lock_guard lock(m_stopMutex);
    m_stops.push_back(stop);
  }
  Driven& plan = **m_plans.insert(
      place, std::make_unique<Driven>(steps, run, priority, std::move(stop), std::move(hooks)));
  plan.whenStopped.emplace(plan.stop, [this] { stopPassIfAllStopped(); });
  m_idlePasses = 0;
}

void PlanDriver::stopPassIfAllStopped() {
  const std::lock_guard lock(m_stopMutex);
  if (std::all_of(m_stops.begin(), m_stops.end(),
                  [](const std::stop_token& stop) { return stop.stop_requested(); }))
    m_passStop.request_stop();
}

std::stop_token PlanDriver::newPass() {
  {
    const std::lock_guard lock(m_stopMutex);
    m_passStop = std::stop_source();
    m_stops.clear();
    for (const auto& plan : m_plans) m_stops.push_back(plan->stop);
  }
  stopPassIfAllStopped();
  std::stop_token stop = m_passStop.get_token();
  if (m_passBegins) m_passBegins(stop);
  return stop;
}

PlanDriver::Driven* PlanDriver::nextPlan() const {
  const auto plan =
      std::find_if(m_plans.begin(), m_plans.end(), [](const auto& each) { return each->steps.hasNext(); });
  return plan == m_plans.end() ? nullptr : plan->get();
}

std::int32_t PlanDriver::nextPriority() const {
  const Driven* const plan = nextPlan();
  return plan == nullptr ? 0 : plan->priority;
}

bool PlanDriver::hasNext() const {
  return nextPlan() != nullptr;
}

bool PlanDriver::submitNext(Scheduler& scheduler) {
  Driven* const plan = nextPlan();
  if (plan == nullptr) return false;
  m_asked = plan;
  const bool isSubmitted = plan->steps.submitNext(scheduler);
  m_asked = nullptr;
  return isSubmitted;
}

std::size_t PlanDriver::endedSteps() const {
  std::size_t ended = 0;
  for (const auto& plan : m_plans) ended += plan->steps.ended();
  return ended;
}

void PlanDriver::end(Plans::iterator plan, DrivenPlan result, std::vector<DrivenPlan>& ended) {
  const std::unique_ptr<Driven> driven = std::move(*plan);
  m_plans.erase(plan);
  result.run = driven->run;
  if (result.error && driven->hooks.onThrown) driven->hooks.onThrown(*result.error);
  if (driven->steps.error()) result.error = driven->steps.error();
  if (result.error) result.outcome = trace::RunOutcome::Failed;
  if (result.outcome != trace::RunOutcome::Finished) m_scheduler.abort(driven->run);
  ended.push_back(std::move(result));
}

/// Ends the plans for which `take` returns an outcome.
template <class Take>
void PlanDriver::endWhere(const Take& take, std::vector<DrivenPlan>& ended) {
  for (auto plan = m_plans.begin(); plan != m_plans.end();) {
    const auto next = std::next(plan);
    if (std::optional<DrivenPlan> result = take(**plan)) end(plan, std::move(*result), ended);
    plan = next;
  }
}

std::vector<DrivenPlan> PlanDriver::advance() {
  std::vector<DrivenPlan> ended;
  // After a stop, the encoding of a text ends with a Failure.
  const auto failed = [](const Driven& plan, const Thrown& thrown) {
    if (plan.isStopped() && thrown.isForeseen)
      return DrivenPlan{.outcome = trace::RunOutcome::Stopped, .error = {}};
    return DrivenPlan{.error = thrown.error};
  };
  using End = std::optional<DrivenPlan>;
  const auto callAll = [&](std::function<void()> DriveHooks::*hook) {
    endWhere(
        [&](Driven& plan) -> End {
          if (!(plan.hooks.*hook)) return std::nullopt;
          const std::optional<Thrown> thrown = thrownBy(plan.hooks.*hook);
          return thrown ? End(failed(plan, *thrown)) : std::nullopt;
        },
        ended);
  };
  const auto endOver = [&] {
    endWhere(
        [](Driven& plan) -> End {
          const bool isOver = plan.steps.done() || plan.steps.error();
          return isOver ? End(DrivenPlan()) : std::nullopt;
        },
        ended);
  };

  endOver();
  callAll(&DriveHooks::beforePass);
  endWhere(
      [](Driven& plan) -> End {
        if (!plan.isStopped()) return std::nullopt;
        if (plan.hooks.afterPass) plan.hooks.afterPass();
        return DrivenPlan{.outcome = trace::RunOutcome::Stopped, .error = {}};
      },
      ended);
  if (m_plans.empty()) return ended;

  const std::size_t before = endedSteps();
  Scheduler::Progress progress = Scheduler::Progress::Computed;
  const std::optional<Thrown> thrown = thrownBy([&] { progress = m_scheduler.pass(newPass(), this); });
  if (thrown) {
    const Driven* const guilty = std::exchange(m_asked, nullptr);
    endWhere(
        [&](Driven& plan) -> End {
          const bool isMeant = guilty == nullptr || guilty == &plan;
          return isMeant ? End(failed(plan, *thrown)) : std::nullopt;
        },
        ended);
    return ended;
  }
  callAll(&DriveHooks::afterPass);
  if (progress == Scheduler::Progress::Stopped) {
    endWhere([](Driven&) -> End { return DrivenPlan{.outcome = trace::RunOutcome::Stopped, .error = {}}; },
             ended);
    return ended;
  }
  const bool isIdle = progress == Scheduler::Progress::Idle && endedSteps() == before;
  m_idlePasses = isIdle ? m_idlePasses + 1 : 0;
  endOver();
  if (m_idlePasses > kMostIdlePasses) {
    endWhere(
        [&](Driven& plan) -> End {
          return failed(plan, {.error = unexpected("steps none of which can go on")});
        },
        ended);
  }
  return ended;
}

DrivenPlan drivePlan(Scheduler& scheduler, PlanSteps& steps, RunId run, const std::stop_token& stop,
                     const DriveHooks& hooks) {
  PlanDriver driver(scheduler);
  driver.begin(steps, run, 0, stop, hooks);
  while (true) {
    std::vector<DrivenPlan> ended = driver.advance();
    if (!ended.empty()) return std::move(ended.front());
  }
}

}  // namespace spanscope::run
