// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/translation.h"
#include "engine/policy/policies.h"

namespace spanscope::policy {
namespace {

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> /*values*/) {
  return layout::layOut(step, outputs, renderer, layout::Visibility::Spans);
}

}  // namespace

constinit const Policy kSpans = {
    .name = "spans",
    .brief = forTranslation("Policies", "block attention"),
    .help = forTranslation("Policies", "Children of a plus are computed alone and reused in any order"),
    .asIn = forTranslation("Policies", "vLLM with spans"),
    .exactness = "block attention ✓ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .layOut = &layOut};

}  // namespace spanscope::policy
