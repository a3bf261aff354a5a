// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/work.h"

#include <utility>

namespace spanscope::workbench {

bool Work::canBeginBeside(const Workplace& /*place*/) const {
  return false;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): who began a run may keep its result.
void Work::runEnded(run::RunResult /*result*/) {}

void Work::tellProgress() const {
  if (m_progressed) m_progressed();
}

FunctionWork::FunctionWork(Function function) : m_function(std::move(function)) {}

std::optional<RunId> FunctionWork::begin(Workplace& place, const std::stop_token& stop) {
  m_function(place, stop);
  return std::nullopt;
}

}  // namespace spanscope::workbench
