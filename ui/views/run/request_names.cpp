// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/run/request_names.h"

#include "ui/words/tr.h"

#include <utility>
#include <vector>

namespace spanscope::ui {
namespace {}  // namespace

QString runName(RunId run) {
  return tr("Run %1").arg(run);
}

QString StepNames::of(RunId run, StepIndex step) {
  auto [names, isNew] = m_names.try_emplace(run);
  const auto state = m_progress.runs.find(run);
  if (isNew && state != m_progress.runs.end()) {
    std::map<QString, int> counts;
    std::vector<std::pair<StepIndex, QString>> plain;
    for (const trace::PlannedStep& planned : state->second.plan.steps) {
      const document::NodeId id = m_input.nodeOf(run, planned.node);
      const document::DocumentNode* node = id == document::kNoNode ? nullptr : m_input.document->find(id);
      const bool named = node != nullptr && !node->name.empty();
      const QString name = named                  ? QString::fromStdString(node->name)
                           : planned.node.empty() ? tr("generate")
                                                  : tr("inner");
      ++counts[name];
      plain.emplace_back(planned.step, name);
    }
    std::map<QString, int> seen;
    for (const auto& [index, name] : plain) {
      const int place = ++seen[name];
      names->second[index] = counts[name] > 1 ? tr("%1 %2").arg(name).arg(place) : name;
    }
  }
  const auto found = names->second.find(step);
  return found == names->second.end() ? tr("step %1").arg(step) : found->second;
}

}  // namespace spanscope::ui
