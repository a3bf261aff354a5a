// SPDX-License-Identifier: GPL-3.0-or-later
// The names that views of runs give to the steps of a plan.
#pragma once

#include "ui/session/view_input.h"

#include <QCoreApplication>
#include <QString>

#include <map>
#include <vector>

namespace spanscope::ui {

/// What the name of a step depends on.
struct NamedStep {
  StepIndex step = 0;
  document::NodeId node = document::kNoNode;
  bool isRoot = false;
};
/// The names of all steps of one plan, by the rules of StepNames.
std::map<StepIndex, QString> stepNames(const document::Document& document,
                                       const std::vector<NamedStep>& steps);

/// Names steps. A step has the name that the person gave its node. Without one, the root is "generate" and
/// other steps are "inner". If several steps of a run have the same name, a number follows: "inner 2". An
/// object makes the names of a run only once, so it must not outlive the state that it reads.
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
