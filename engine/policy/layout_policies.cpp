// SPDX-License-Identifier: GPL-3.0-or-later
// The policies that differ only in how they lay out a prompt.
#include "engine/base/translation.h"
#include "engine/policy/policies.h"

namespace spanscope::policy {

constinit const Policy kSpans = {
    .name = "spans",
    .brief = forTranslation("Policies", "block attention"),
    .help = forTranslation("Policies", "Children of a plus are computed alone and reused in any order"),
    .asIn = forTranslation("Policies", "vLLM with spans"),
    .exactness = "block attention ✓ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .layOut = &layOutAs<layout::Visibility::Spans>};

constinit const Policy kPrefix = {
    .name = "prefix",
    .brief = forTranslation("Policies", "one segment, reused up to the first difference"),
    .help = forTranslation("Policies", "As stock servers do: only the longest common prefix is reused"),
    .asIn = forTranslation("Policies", "stock servers"),
    .exactness = "full prefill ✓",
    .hasIndependentSpans = false,
    .wantsBlockAttention = false,
    .layOut = &layOutAs<layout::Visibility::Full>};

constinit const Policy kSharedPrefix = {
    .name = "shared-prefix",
    .brief = forTranslation("Policies", "block attention with the prompt before"),
    .help = forTranslation("Policies",
                           "Children of a plus attend to the prompt before their plus and to themselves. "
                           "Such children are reused after the same prompt"),
    .asIn = "",
    .exactness = "block attention after the prefix ✓ · full prefill ≈",
    .hasIndependentSpans = false,
    .wantsBlockAttention = true,
    .layOut = &layOutAs<layout::Visibility::SpansBehindPrefix>};

constinit const Policy kSpansNoReposition = {
    .name = "spans-no-reposition",
    .brief = forTranslation("Policies", "spans at one position, for study"),
    .help = forTranslation("Policies",
                           "As spans, but all children of a plus have one position. This policy shows the "
                           "benefit of relocation"),
    .asIn = "",
    .exactness = "block attention ≈ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .layOut = &layOutAs<layout::Visibility::SpansAtOneBase>};

}  // namespace spanscope::policy
