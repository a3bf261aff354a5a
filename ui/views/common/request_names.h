// SPDX-License-Identifier: GPL-3.0-or-later
// What the views of runs call the steps of their plans.
#pragma once

#include "ui/session/view_input.h"

#include <QCoreApplication>
#include <QString>

#include <map>
#include <vector>

namespace spanscope::ui {

/// A step of a plan as its name depends on it.
struct NamedStep {
  StepIndex step = 0;
  document::NodeId node = document::kNoNode;
  bool isRoot = false;
};
/// What the steps of one plan are called, as StepNames says.
std::map<StepIndex, QString> stepNames(const document::Document& document,
                                       const std::vector<NamedStep>& steps);

/// What steps are called: the name that the person gave the node, else "generate" for the root and "inner"
/// for what it needs. Where several steps of a run would be called the same, their place among them follows:
/// "inner 2". Names of a run are made once, so an object must not outlive the state it reads.
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
