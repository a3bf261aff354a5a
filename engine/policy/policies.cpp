// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policies.h"

#include "engine/base/translation.h"
#include "engine/policy/blend/blend.h"
#include "engine/policy/link/link.h"
#include "engine/policy/relay/relay.h"
#include "engine/policy/views/views.h"

#include <algorithm>
#include <array>

namespace spanscope::policy {
namespace {

// Policies are registered only here.
constexpr std::array<const Policy*, 9> kPolicies{
    &kSpans, &kPrefix, &kLink, &kBlend, &kRelay, &kSparse, &kViews, &kSharedPrefix, &kSpansNoReposition};

}  // namespace

std::span<const Policy* const> policies() {
  return kPolicies;
}

const Policy& standardPolicy() {
  return *kPolicies.front();
}

const Policy& policyForAnyCheckpoint() {
  return **std::ranges::find_if(kPolicies, [](const Policy* policy) { return !policy->wantsBlockAttention; });
}

std::string untrainedAdvice() {
  return std::string(
             "no file of this checkpoint mentions training for block attention. Answers may be less "
             "accurate than with the policy ") +
         policyForAnyCheckpoint().name;
}

std::string exactnessOn(const Choice& choice, bool rowsAreBitEqual) {
  std::string text = choice.exactness();
  constexpr std::string_view kTick = "✓";
  for (auto at = text.find(kTick); !rowsAreBitEqual && at != std::string::npos; at = text.find(kTick))
    text.replace(at, kTick.size(), "≈");
  return text;
}

std::string closeDeviceAdvice() {
  return "on this device, the last bits depend on the other tokens of a forward pass. Reused tokens are "
         "close to recomputed tokens, but not bit-identical";
}

const Policy* findPolicy(std::string_view name) {
  const auto found = std::ranges::find(kPolicies, name, &Policy::name);
  return found == kPolicies.end() ? nullptr : *found;
}

std::vector<std::string> policyNames() {
  std::vector<std::string> names;
  for (const Policy* policy : kPolicies) names.emplace_back(policy->name);
  return names;
}

constinit const Policy kSpans = {
    .name = "spans",
    .brief = forTranslation("Policies", "documents reused in any order; for models trained for it"),
    .help = forTranslation("Policies", "Children of a plus are computed alone and reused in any order"),
    .asIn = forTranslation("Policies", "vLLM with spans"),
    .exactness = "block attention ✓ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .layOut = &layOutAs<layout::Visibility::Spans>};

constinit const Policy kPrefix = {
    .name = "prefix",
    .brief = forTranslation("Policies", "reuses only the common prefix; exact on every model"),
    .help = forTranslation("Policies", "Reuses only the longest common prefix, as stock servers do"),
    .asIn = forTranslation("Policies", "stock servers"),
    .exactness = "full prefill ✓",
    .layOut = &layOutAs<layout::Visibility::Full>};

constinit const Policy kSharedPrefix = {
    .name = "shared-prefix",
    .brief = forTranslation("Policies", "documents reused after the same prompt; closer than spans"),
    .help = forTranslation("Policies",
                           "Each child of a plus attends to itself and to the prompt before the plus. The "
                           "cache reuses the child after the same prompt"),
    .exactness = "block attention after the prefix ✓ · full prefill ≈",
    .wantsBlockAttention = true,
    .layOut = &layOutAs<layout::Visibility::SpansBehindPrefix>};

constinit const Policy kSpansNoReposition = {
    .name = "spans-no-reposition",
    .brief = forTranslation("Policies", "spans at one position, for study"),
    .help = forTranslation("Policies",
                           "Like spans, but all children of a plus start at the same position. This policy "
                           "shows the benefit of relocation"),
    .exactness = "block attention ≈ · full prefill ≈",
    .hasIndependentSpans = true,
    .wantsBlockAttention = true,
    .layOut = &layOutAs<layout::Visibility::SpansAtOneBase>};

}  // namespace spanscope::policy
