// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/prompt_parts.h"

#include "ui/words/tr.h"

#include <utility>
#include <variant>

namespace spanscope::ui {

trace::PromptParts promptParts(const ViewInput& input, RequestId request) {
  const auto& requests = input.state().progress().requests;
  const auto found = requests.find(request);
  if (found == requests.end()) return {};
  const trace::PromptDivided* divided = nullptr;
  if (const RequestEvents* events = input.trace->request(request)) {
    for (const std::size_t index : events->of<trace::PromptDivided>()) {
      if (index < input.position)
        divided = std::get_if<trace::PromptDivided>(&input.trace->event(index).payload);
    }
  }
  return trace::PromptParts(found->second.segments, divided);
}

std::map<StepIndex, QString> stepNames(const document::Document& document,
                                       const std::vector<NamedStep>& steps) {
  std::map<QString, int> counts;
  std::vector<std::pair<StepIndex, QString>> plain;
  for (const NamedStep& step : steps) {
    const document::DocumentNode* node = step.node == document::kNoNode ? nullptr : document.find(step.node);
    const bool named = node != nullptr && !node->name.empty();
    const QString name = named         ? QString::fromStdString(node->name)
                         : step.isRoot ? tr("generate")
                                       : tr(/*id:subquery-step*/ "subquery");
    ++counts[name];
    plain.emplace_back(step.step, name);
  }
  std::map<StepIndex, QString> names;
  std::map<QString, int> seen;
  for (const auto& [index, name] : plain) {
    const int place = ++seen[name];
    names[index] = counts[name] > 1 ? tr("%1 %2").arg(name).arg(place) : name;
  }
  return names;
}

std::map<StepIndex, QString> stepNames(const ViewInput& input, const trace::Progress& progress, RunId run) {
  const auto state = progress.runs.find(run);
  if (state == progress.runs.end()) return {};
  std::vector<NamedStep> steps;
  for (const trace::PlannedStep& planned : state->second.plan->steps) {
    steps.push_back(
        {.step = planned.step, .node = input.nodeOf(run, planned.node), .isRoot = planned.node.empty()});
  }
  return stepNames(*input.document, steps);
}

}  // namespace spanscope::ui
