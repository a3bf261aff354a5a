// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/experiment_job.h"

#include "engine/base/error.h"
#include "engine/experiment/experiment_amount.h"
#include "engine/workbench/experiment_model.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/service/indexing.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::workbench {

struct ExperimentJob::Clock {
  using Time = std::chrono::steady_clock;

  experiment::RemainingTime remaining;
  std::optional<double> known;  ///< seconds of the whole, where they are known well before
  Time::time_point begin = Time::now();
  Time::duration passed{};  ///< what passed took

  std::optional<double> secondsLeft(double stepsDone) const {
    const double spent = std::chrono::duration<double>(Time::now() - begin - passed).count();
    const std::optional<double> measured = remaining.secondsLeft(stepsDone, spent);
    if (measured || !known) return measured;
    return std::max(0.0, *known - spent);
  }
};

ExperimentJob::ExperimentJob(RunSettings settings, experiment::ExperimentRequest request,
                             std::shared_ptr<SpeedRecords> paces, FindDocuments find)
    : m_settings(std::move(settings)), m_paces(std::move(paces)), m_find(std::move(find)) {
  experiment::ExperimentResult result;
  result.request = std::move(request);
  m_result.set(std::move(result));
}

/// What it computes is known if it can be counted; without that, the rest is told from the steps alone.
void ExperimentJob::count(const experiment::ExperimentRequest& request, experiment::ExperimentModel model,
                          Clock& clock, const std::stop_token& stop) {
  experiment::ExperimentAmount amount;
  try {
    amount = experiment::countExperiment(request, std::move(model), stop);
  } catch (const Failure&) {
    return;  // what is wrong shows when it is measured
  }
  const std::optional<experiment::SpeedSample> pace = m_paces ? m_paces->find(m_settings) : std::nullopt;
  clock.remaining = experiment::RemainingTime(amount.steps, pace.value_or(experiment::SpeedSample()));
  Estimate estimate{.amount = amount.total, .seconds = {}};
  if (pace) estimate.seconds = experiment::secondsFor(amount.total, *pace);
  if (estimate.seconds && experiment::roundedSpan(*estimate.seconds).isOne())
    clock.known = (estimate.seconds->least + estimate.seconds->most) / 2;
  m_estimate.set(estimate);
  notifyProgress();
}

Begun ExperimentJob::begin(JobContext& place, const std::stop_token& stop) {
  experiment::ExperimentResult result = m_result.get();
  const std::shared_ptr<void> atEnd(nullptr, [&](void*) { m_result.set(std::move(result)); });
  place.modelFor(m_settings, stop);
  if (m_find) {
    std::shared_ptr<const experiment::OwnDocuments> found =
        m_find(place, m_indexing.watch(stop, [this] { notifyProgress(); }));
    m_indexing.end();
    result.request = experiment::withDocuments(std::move(result.request), std::move(found));
  }
  // Works that pass may put another model in its place.
  const std::shared_ptr<ModelBundle> own = place.model();
  const std::vector<std::string> further = experiment::furtherModels(result.request);
  std::optional<ModelBundle> other;
  Clock clock;
  const auto modelOf = [&](std::size_t index) {
    RunSettings settings = m_settings;
    if (index > 0) {
      settings.model = further[index - 1];
      other.reset();
      other.emplace(place.loadBeside(settings, stop));
    }
    experiment::ExperimentModel model =
        experimentModelOf(index == 0 ? *own : *other, place.configFor(settings));
    model.seam = [this, &clock] {
      const Clock::Time::time_point before = Clock::Time::now();
      letPass();
      clock.passed += Clock::Time::now() - before;
    };
    return model;
  };
  if (further.empty()) count(result.request, modelOf(0), clock, stop);
  clock.begin = Clock::Time::now();
  ProgressPause pause;
  const auto tell = [&](const experiment::ExperimentResult& now) {
    if (!pause.isOver()) return;
    experiment::ExperimentResult told = now;
    told.secondsLeft = clock.secondsLeft(now.progress());
    m_result.set(std::move(told));
    notifyProgress();
  };
  const std::shared_ptr<void> noted(nullptr, [&](void*) {
    if (m_paces && further.empty()) m_paces->note(m_settings, result.pace);
  });
  experiment::runOnModels(result, 1 + further.size(), modelOf, tell, stop);
  return Begun::Done;
}

}  // namespace spanscope::workbench
