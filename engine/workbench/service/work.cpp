// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/work.h"

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/run/session.h"
#include "engine/workbench/service/workplace.h"

#include <utility>

namespace spanscope::workbench {

bool Work::canBeginBeside(const Workplace& /*place*/) const {
  return false;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): who began a run may keep it.
void Work::runEnded(run::RunResult /*result*/) {}

FunctionWork::FunctionWork(Function function) : m_function(std::move(function)) {}

std::optional<RunId> FunctionWork::begin(Workplace& place, const std::stop_token& stop) {
  m_function(place, stop);
  return std::nullopt;
}

RunWork::RunWork(RunSettings settings, Preparation preparation, RunId lastRun, RequestId lastRequest)
    : m_settings(std::move(settings)),
      m_preparation(std::move(preparation)),
      m_lastRun(lastRun),
      m_lastRequest(lastRequest) {}

std::optional<RunId> RunWork::begin(Workplace& place, const std::stop_token& stop) {
  run::Session& session = place.sessionFor(m_settings, stop);
  session.countFrom(m_lastRun, m_lastRequest);
  Prepared prepared = m_preparation.prepare(place, stop);
  prepared.options.emptyCache = [&place] { return place.takeClearing(); };
  return session.begin(std::move(prepared.plan), std::move(prepared.options), stop);
}

bool RunWork::canBeginBeside(const Workplace& place) const {
  return !m_preparation.takesLong && place.openSessionFor(m_settings) != nullptr;
}

void RunWork::runEnded(run::RunResult result) {
  m_result = std::move(result);
  if (m_result->error) throw Failure(*m_result->error);
}

}  // namespace spanscope::workbench
