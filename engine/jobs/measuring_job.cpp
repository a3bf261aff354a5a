// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/jobs/measuring_job.h"

#include "engine/run/run_options.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <utility>

namespace spanscope::jobs {

void MeasureClock::leaveOut(const std::function<void()>& pass) {
  const Time::time_point before = Time::now();
  pass();
  m_passed += Time::now() - before;
}

std::optional<double> MeasureClock::secondsLeft(double progress) const {
  if (!m_begin) return std::nullopt;
  const double spent = std::chrono::duration<double>(Time::now() - *m_begin - m_passed).count();
  const std::optional<double> measured = m_steps.secondsLeft(progress, spent);
  if (measured || !m_seconds) return measured;
  return std::max(0.0, *m_seconds - spent);
}

Measurement::Measurement(const char* kind, trace::PackedValue arguments, JobInput input)
    : RecordedJob(kind, std::move(arguments)), m_input(std::move(input)) {}

run::SessionConfig Measurement::sessionConfig() const {
  run::SessionConfig config = m_place->configFor(m_input.settings);
  // A cold run computes its tokens and does not load tokens.
  if (!m_input.usesTiers) config.store = {};
  return config;
}

void Measurement::report() {
  const double share = publish();
  m_progress.set({.share = share, .secondsLeft = m_clock.secondsLeft(share)});
  notifyProgress();
}

void Measurement::pass() {
  m_clock.leaveOut([this] { letPass(); });
}

void Measurement::setEstimate(const JobEstimate& estimate) {
  m_estimate.set(estimate);
  notifyProgress();
}

workbench::Begun Measurement::start(workbench::JobContext& place, const std::stop_token& stop) {
  const std::shared_ptr<void> atEnd(nullptr, [this](void*) {
    m_progress.set({.share = publish()});
    m_place = nullptr;
    m_model.reset();
  });
  m_place = &place;
  m_stop = stop;
  place.modelFor(m_input.settings, stop);
  m_model = place.model();
  if (m_input.retrieve) {
    m_input.query = m_input.retrieve(place, m_indexing.watch(stop, [this] { notifyProgress(); }));
    m_indexing.end();
  }
  measure();
  return workbench::Begun::Done;
}

}  // namespace spanscope::jobs
