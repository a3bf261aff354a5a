// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/job.h"

#include <utility>

namespace spanscope::workbench {

bool Job::canBeginBeside(const JobContext& /*place*/) const {
  return false;
}

bool Job::hasEnded(run::Session& /*session*/) {
  return true;
}

void Job::notifyProgress() const {
  if (m_progressed) m_progressed();
}

void Job::letPass() const {
  if (m_passing) m_passing();
}

FunctionJob::FunctionJob(Function function, Passing passing)
    : m_function(std::move(function)), m_passing(passing) {}

Begun FunctionJob::begin(JobContext& place, const std::stop_token& stop) {
  m_function(place, stop);
  return Begun::Done;
}

}  // namespace spanscope::workbench
