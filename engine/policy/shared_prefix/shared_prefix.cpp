// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/translation.h"
#include "engine/policy/policies.h"

namespace spanscope::policy {
namespace {

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> /*values*/) {
  return layout::layOut(step, outputs, renderer, layout::Visibility::SpansBehindPrefix);
}

}  // namespace

constinit const Policy kSharedPrefix = {
    .name = "shared-prefix",
    .brief = forTranslation("Policies", "block attention with the prompt before"),
    .help = forTranslation("Policies",
                           "Children of a plus attend to the prompt before their plus and to themselves. "
                           "They are reused after the same prompt"),
    .asIn = "",
    .exactness = "block attention after the prefix ✓ · full prefill ≈",
    .hasIndependentSpans = false,
    .wantsBlockAttention = true,
    .layOut = &layOut};

}  // namespace spanscope::policy
