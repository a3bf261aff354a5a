// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/policy/policies.h"

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
  return **std::find_if(kPolicies.begin(), kPolicies.end(),
                        [](const Policy* policy) { return !policy->wantsBlockAttention; });
}

std::string untrainedAdvice() {
  return std::string(
             "no file of this checkpoint mentions training for block attention, so answers will be "
             "less accurate than with the policy ") +
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
  const auto found = std::find_if(kPolicies.begin(), kPolicies.end(),
                                  [name](const Policy* policy) { return name == policy->name; });
  return found == kPolicies.end() ? nullptr : *found;
}

std::vector<std::string> policyNames() {
  std::vector<std::string> names;
  for (const Policy* policy : kPolicies) names.emplace_back(policy->name);
  return names;
}

}  // namespace spanscope::policy
