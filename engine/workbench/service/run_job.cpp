// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/run_job.h"

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/run/session.h"
#include "engine/trace/recorder.h"
#include "engine/workbench/service/job_context.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <variant>

namespace spanscope::workbench {

/// Listens to a recorder as long as it lives.
class RunJob::Ear {
 public:
  Ear(std::shared_ptr<trace::Recorder> recorder, RunId run, std::function<void(const trace::Event&)> listener)
      : m_recorder(std::move(recorder)), m_run(run), m_listener(std::move(listener)) {
    m_id = m_recorder->addListener([this](const trace::Event& event) { hear(event); });
  }
  ~Ear() { m_recorder->removeListener(m_id); }
  Ear(const Ear&) = delete;
  Ear& operator=(const Ear&) = delete;

 private:
  void hear(const trace::Event& event) {
    if (event.run == m_run) {
      if (event.request != 0) m_requests.insert(event.request);
      m_listener(event);
      return;
    }
    // A forward pass belongs to all runs for which it computes.
    const auto* pass = std::get_if<trace::BatchComputed>(&event.payload);
    if (pass == nullptr) return;
    const bool isOfRun = std::ranges::any_of(
        pass->entries, [this](const trace::BatchEntry& entry) { return m_requests.contains(entry.request); });
    if (isOfRun) m_listener(event);
  }

  std::shared_ptr<trace::Recorder> m_recorder;
  RunId m_run;
  std::function<void(const trace::Event&)> m_listener;
  std::set<RequestId> m_requests;
  std::uint64_t m_id = 0;
};

RunJob::~RunJob() = default;

RunJob::RunJob(RunSettings settings, Preparation preparation, RunId lastRun, RequestId lastRequest)
    : m_settings(std::move(settings)),
      m_preparation(std::move(preparation)),
      m_lastRun(lastRun),
      m_lastRequest(lastRequest) {}

Begun RunJob::begin(JobContext& place, const std::stop_token& stop) {
  run::Session& session = place.sessionFor(m_settings, stop);
  session.countFrom(m_lastRun, m_lastRequest);
  Prepared prepared = m_preparation.prepare(place, m_indexing.watch(stop, [this] { notifyProgress(); }));
  m_indexing.end();
  prepared.options.emptyCache = [&place] { return place.takeClearing(); };
  // The number of the run must be known before its first event.
  m_run = session.lastRun() + 1;
  if (m_listener) m_ear = std::make_unique<Ear>(place.recorder(), m_run, m_listener);
  session.begin(std::move(prepared.plan), std::move(prepared.options), stop);
  return Begun::GoesOn;
}

bool RunJob::canBeginBeside(const JobContext& place) const {
  return !m_preparation.takesLong && place.openSessionFor(m_settings) != nullptr;
}

bool RunJob::hasEnded(run::Session& session) {
  std::optional<run::RunResult> result = session.take(m_run);
  if (!result) return false;
  m_ear.reset();
  m_result = std::move(result);
  if (m_result->error) throw Failure(*m_result->error);
  return true;
}

bool RunJob::wasStopped() const {
  return m_result && m_result->outcome == trace::RunOutcome::Stopped;
}

}  // namespace spanscope::workbench
