// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a request's prompt, and the names of the steps of a plan. The user reads sections, while
// the cache uses segments.
#pragma once

#include "engine/trace/prompt_parts.h"
#include "engine/trace/replay.h"
#include "ui/session/view_input.h"

#include <QString>

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

namespace spanscope::ui {

/// Returns the sections that the first `input.position` events report. Returns no sections if the request has
/// no span table yet.
trace::PromptParts promptParts(const ViewInput& input, RequestId request);

/// Returns how many tokens of the request's prompt are cache hits or computed by a forward pass
/// (BatchComputed). Tokens that are recomputed after a preemption still count. For a complete prompt, returns
/// the prompt's length.
inline std::int64_t readTokens(const trace::RequestState& request) {
  return std::min(request.promptTokens, request.cachedTokens + request.computedTokens);
}

// The names of the steps of a plan. Every view and the canvas use the same names.

/// The inputs for the name of a step.
struct NamedStep {
  StepIndex step = 0;
  document::NodeId node = document::kNoNode;
  bool isRoot = false;
};
/// Returns the names of all steps of one plan. A step has the name that the user gave its node. Without such
/// a name, the root step is "generate", and each step of a subquery is "subquery". If several steps have the
/// same name, a number follows: "subquery 2".
std::map<StepIndex, QString> stepNames(const document::Document& document,
                                       const std::vector<NamedStep>& steps);
/// Returns the names of the steps of a run; empty if the run is not in the trace.
std::map<StepIndex, QString> stepNames(const ViewInput& input, const trace::Progress& progress, RunId run);

}  // namespace spanscope::ui
