// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/views/views.h"

#include "engine/base/translation.h"
#include "engine/policy/views/view_of_others.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace spanscope::policy {
namespace {

/// The node around the generates that belong together: their plus, or a repeat or map.
NodePath listAround(const plan::Step& step) {
  static constexpr std::string_view kPlus = "/plus/";
  const std::size_t at = step.node.rfind(kPlus);
  return at == NodePath::npos ? step.node : step.node.substr(0, at + kPlus.size() - 1);
}

std::vector<std::vector<StepIndex>> teams(const plan::Plan& plan) {
  std::map<std::pair<std::uint32_t, NodePath>, std::vector<StepIndex>> together;
  for (StepIndex i = 0; i < plan.steps.size(); ++i)
    together[{plan.steps[i].ply, listAround(plan.steps[i])}].push_back(i);
  std::vector<std::vector<StepIndex>> teams;
  for (auto& [place, steps] : together) {
    if (steps.size() > 1) teams.push_back(std::move(steps));
  }
  return teams;
}

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> /*values*/) {
  return layout::layOut(step, outputs, renderer, layout::Visibility::Spans);
}

RowPlan planRows(const layout::SpanTable& /*table*/, std::span<const double> /*values*/, bool isInTeam) {
  if (!isInTeam) return {};
  return {.reply = std::make_shared<ViewOfOthers>()};
}

}  // namespace

constinit const Policy kViews = {.name = "views",
                                 .brief = forTranslation("Policies", "generates of a plus read each other"),
                                 .help = forTranslation("Policies",
                                                        "As spans, and the generates of a plus run in step, "
                                                        "each reading what the others have written so far"),
                                 .asIn = "Hogwild!",
                                 .exactness = "block attention ≈ · full prefill ≈",
                                 .hasIndependentSpans = true,
                                 .wantsBlockAttention = true,
                                 .layOut = &layOut,
                                 .planRows = &planRows,
                                 .teams = &teams};

}  // namespace spanscope::policy
