// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/translation.h"
#include "engine/policy/policies.h"

namespace spanscope::policy {
namespace {

layout::SpanTable layOut(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                         layout::MessageRenderer& renderer, std::span<const double> /*values*/) {
  return layout::layOut(step, outputs, renderer, layout::Visibility::Full);
}

}  // namespace

constinit const Policy kPrefix = {
    .name = "prefix",
    .brief = forTranslation("Policies", "one segment, reused up to the first difference"),
    .help = forTranslation("Policies", "As stock servers do: only the longest common prefix is reused"),
    .asIn = forTranslation("Policies", "stock servers"),
    .exactness = "full prefill ✓",
    .hasIndependentSpans = false,
    .wantsBlockAttention = false,
    .layOut = &layOut};

}  // namespace spanscope::policy
