// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/run_work.h"

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/run/session.h"
#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::workbench {

RunWork::RunWork(RunSettings settings, Preparation preparation, RunId lastRun, RequestId lastRequest)
    : m_settings(std::move(settings)),
      m_preparation(std::move(preparation)),
      m_lastRun(lastRun),
      m_lastRequest(lastRequest) {}

Begun RunWork::begin(Workplace& place, const std::stop_token& stop) {
  run::Session& session = place.sessionFor(m_settings, stop);
  session.countFrom(m_lastRun, m_lastRequest);
  Prepared prepared = m_preparation.prepare(place, m_indexing.watch(stop, [this] { tellProgress(); }));
  m_indexing.end();
  prepared.options.emptyCache = [&place] { return place.takeClearing(); };
  // Who sees the first event of the run must know already whose it is.
  m_run = session.lastRun() + 1;
  session.begin(std::move(prepared.plan), std::move(prepared.options), stop);
  return Begun::GoesOn;
}

bool RunWork::canBeginBeside(const Workplace& place) const {
  return !m_preparation.takesLong && place.openSessionFor(m_settings) != nullptr;
}

bool RunWork::hasEnded(run::Session& session) {
  std::optional<run::RunResult> result = session.take(m_run);
  if (!result) return false;
  m_result = std::move(result);
  if (m_result->error) throw Failure(*m_result->error);
  return true;
}

bool RunWork::wasStopped() const {
  return m_result && m_result->outcome == trace::RunOutcome::Stopped;
}

}  // namespace spanscope::workbench
