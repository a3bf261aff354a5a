// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/translation.h"
#include "engine/policy/policies.h"

namespace spanscope::policy {
namespace {

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> /*values*/) {
  return layout::layOut(step, outputs, renderer, layout::Visibility::SpansAtOneBase);
}

}  // namespace

constinit const Policy kSpansNoReposition = {
    .name = "spans-no-reposition",
    .brief = forTranslation("Policies", "spans at one position, for study"),
    .help = forTranslation(
        "Policies",
        "As spans, but all children of a plus have one position. It shows what relocation is worth"),
    .asIn = "",
    .exactness = "block attention ≈ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .layOut = &layOut};

}  // namespace spanscope::policy
