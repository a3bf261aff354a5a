// SPDX-License-Identifier: GPL-3.0-or-later
// The names that views of runs give to the steps of a plan.
#pragma once

#include "ui/session/step_names.h"

#include <QCoreApplication>
#include <QString>

#include <map>

namespace spanscope::ui {

/// Names steps by the rules of stepNames(). An object makes the names of a run only once, so it must not
/// outlive the state that it reads.
class StepNames {
  Q_DECLARE_TR_FUNCTIONS(spanscope::ui::StepNames)
 public:
  StepNames(const ViewInput& input, const trace::Progress& progress) : m_input(input), m_progress(progress) {}

  QString of(RunId run, StepIndex step);
  QString of(const trace::RequestState& request) { return of(request.run, request.step); }

 private:
  const ViewInput& m_input;
  const trace::Progress& m_progress;
  std::map<RunId, std::map<StepIndex, QString>> m_names;
};

}  // namespace spanscope::ui
