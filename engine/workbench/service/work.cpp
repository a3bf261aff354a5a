// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/work.h"

#include <utility>

namespace spanscope::workbench {

bool Work::canBeginBeside(const Workplace& /*place*/) const {
  return false;
}

bool Work::hasEnded(run::Session& /*session*/) {
  return true;
}

void Work::tellProgress() const {
  if (m_progressed) m_progressed();
}

void Work::letPass() const {
  if (m_passing) m_passing();
}

FunctionWork::FunctionWork(Function function, Passing passing)
    : m_function(std::move(function)), m_passing(passing) {}

Begun FunctionWork::begin(Workplace& place, const std::stop_token& stop) {
  m_function(place, stop);
  return Begun::Done;
}

}  // namespace spanscope::workbench
