// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/policy_comparison.h"

#include "engine/policy/choice.h"
#include "engine/policy/policies.h"
#include "engine/workbench/setting_choices.h"
#include "ui/words/tr.h"

#include <algorithm>

namespace spanscope::ui {

using workbench::PolicyStage;

namespace {

constexpr QLatin1String kRun("run");
constexpr QLatin1String kChoose("choose:");

QString stageText(PolicyStage stage, bool isReordered) {
  switch (stage) {
    case PolicyStage::Cold:
      return tr("with an empty cache");
    case PolicyStage::Fidelity:
      return tr("compared with a full prefill");
    case PolicyStage::Reordered:
      return isReordered ? tr("in another order") : tr("once more");
    case PolicyStage::Waiting:
    case PolicyStage::Done:
    case PolicyStage::Failed:
      break;
  }
  return {};
}

}  // namespace

QString policyRequest(const PolicyRequest& request) {
  if (request.names) return kChoose + request.names->join(QLatin1Char(';'));
  return request.starts ? QString(kRun) : QString();
}

PolicyRequest readPolicyRequest(const QString& text) {
  if (text.startsWith(kChoose))
    return {.starts = false, .names = text.mid(kChoose.size()).split(QLatin1Char(';'), Qt::SkipEmptyParts)};
  return {.starts = text == kRun, .names = std::nullopt};
}

std::vector<std::string> usualPolicies() {
  return knownPolicies(
      {QStringLiteral("prefix"), QStringLiteral("spans"), QStringLiteral("link"), QStringLiteral("blend")});
}

std::vector<std::string> knownPolicies(const QStringList& names) {
  std::vector<std::string> known;
  for (const policy::Policy* policy : policy::policies()) {
    if (names.contains(QString::fromUtf8(policy->name))) known.emplace_back(policy->name);
  }
  return known;
}

std::vector<std::string> comparedPolicies(const std::string& own, const std::vector<std::string>& wanted) {
  const policy::Choice first = workbench::policyOf(own);
  std::vector<std::string> compared{first.name()};
  for (const std::string& name : wanted) {
    const policy::Policy* policy = policy::findPolicy(name);
    if (policy != nullptr && policy != &first.policy()) compared.push_back(policy::Choice(*policy).name());
  }
  return compared;
}

QString progressText(const PolicyComparison& comparison) {
  if (comparison.model.empty()) return tr("Policies: preparing");
  for (std::size_t i = 0; i < comparison.policies.size(); ++i) {
    const MeasuredPolicy& policy = comparison.policies[i];
    if (workbench::hasEnded(policy.stage)) continue;
    const QString stage = stageText(policy.stage, comparison.isReordered);
    if (stage.isEmpty()) return tr("Policies: warming up");
    return tr("Policies: %1, %2 of %3, %4")
        .arg(QString::fromStdString(policy.policy))
        .arg(i + 1)
        .arg(comparison.policies.size())
        .arg(stage);
  }
  return tr("Policies");
}

}  // namespace spanscope::ui
