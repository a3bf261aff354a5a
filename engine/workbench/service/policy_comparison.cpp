// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/service/policy_comparison.h"

#include <algorithm>

namespace spanscope::workbench {

std::optional<trace::FidelityMetrics> MeasuredPolicy::fidelity() const {
  if (replies.empty()) return std::nullopt;
  std::vector<const trace::FidelityMeasured*> measured;
  for (const ComparedReply& reply : replies) measured.push_back(&reply.fidelity);
  return trace::fidelityOf(measured);
}

double PolicyComparison::progress() const {
  if (state == JobState::Finished) return 1;
  if (policies.empty()) return 0;
  constexpr auto kMeasuredStages = static_cast<double>(PolicyStage::Done) - 1;
  double done = 0;
  for (const MeasuredPolicy& policy : policies) {
    if (hasEnded(policy.stage))
      done += 1;
    else if (policy.stage != PolicyStage::Waiting)
      done += (static_cast<double>(policy.stage) - 1) / kMeasuredStages;
  }
  return done / static_cast<double>(policies.size());
}

BenchmarkSubject comparisonSubject(const document::Document& document) {
  BenchmarkSubject subject = benchmarkSubject(document, BenchmarkKind::Query);
  subject.settings.policy = RunSettings().policy;
  return subject;
}

}  // namespace spanscope::workbench
