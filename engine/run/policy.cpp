// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/run/policy.h"

#include <array>

namespace spanscope::run {
namespace {

struct PolicyEntry {
  Policy policy;
  const char* name;
  layout::Visibility visibility;
  const char* exactness;
};

// The one place where a policy is registered.
constexpr std::array kPolicies{
    PolicyEntry{Policy::Prefix, "prefix", layout::Visibility::Full, "full prefill ✓"},
    PolicyEntry{Policy::Spans, "spans", layout::Visibility::Spans, "block attention ✓ · full prefill ≈"},
};

const PolicyEntry& entryOf(Policy policy) {
  return kPolicies.at(static_cast<std::size_t>(policy));
}

}  // namespace

const char* policyName(Policy policy) {
  return entryOf(policy).name;
}

std::optional<Policy> parsePolicy(std::string_view name) {
  for (const PolicyEntry& entry : kPolicies) {
    if (name == entry.name) return entry.policy;
  }
  return std::nullopt;
}

layout::Visibility visibilityOf(Policy policy) {
  return entryOf(policy).visibility;
}

const char* exactness(Policy policy) {
  return entryOf(policy).exactness;
}

}  // namespace spanscope::run
