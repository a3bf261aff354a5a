// SPDX-License-Identifier: GPL-3.0-or-later
// The plan of a run: its steps, and the planner's own explanation.
#pragma once

#include "engine/plan/plan.h"
#include "ui/session/view_input.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

enum class StepState : std::uint8_t { Planned, Waiting, Computing, Decoding, Finished, Stopped, Failed };

struct PlanStep {
  StepIndex step = 0;
  NodePath node;
  QString name;
  std::uint32_t ply = 0;
  std::vector<StepIndex> needs;
  RequestId request = 0;  ///< 0: the step has no request yet
  StepState state = StepState::Planned;
  std::int64_t promptTokens = 0;
  std::int64_t cachedTokens = 0;
  std::int64_t generatedTokens = 0;
  bool operator==(const PlanStep&) const = default;
};

struct PlanModel {
  RunId run = 0;  ///< 0: there is no run
  QString policy;
  std::vector<PlanStep> steps;
  QString explain;
  bool operator==(const PlanModel&) const = default;
};

/// The plan of the selected request's run. Else of the newest run of the document that has a plan, or of the
/// newest of all if the document has none.
PlanModel planModel(const ViewInput& input);
QString stepStateText(StepState state);
/// "0, 1, 2"; "nothing"
QString needsText(const std::vector<StepIndex>& needs);
QString planCsv(const PlanModel& model);
/// Every change of every pass, as comma-separated values.
QString passesCsv(const plan::Plan& plan);

}  // namespace spanscope::ui
