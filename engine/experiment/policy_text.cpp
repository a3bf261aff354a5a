// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/policy_text.h"

#include "engine/base/error.h"
#include "engine/policy/policies.h"

namespace spanscope::experiment {
namespace {

const policy::Policy& policyOf(const std::string& text) {
  const policy::Policy* policy = policy::findPolicy(text);
  if (policy == nullptr) throw Failure(errorAt("policy", text, "one of " + everyPolicy()));
  return *policy;
}

}  // namespace

std::string everyPolicy() {
  std::string list;
  for (const std::string& name : policy::policyNames()) list += (list.empty() ? "" : ",") + name;
  return list;
}

std::vector<std::string> splitPolicies(std::string_view list) {
  std::vector<std::string> policies(1);
  int depth = 0;
  for (const char letter : list) {
    depth += letter == '(' ? 1 : letter == ')' ? -1 : 0;
    if (letter == ',' && depth == 0)
      policies.emplace_back();
    else if (letter != ' ')
      policies.back() += letter;
  }
  for (const std::string& policy : policies) policyOf(policy);
  return policies;
}

void usePolicy(run::RunOptions& options, std::string_view policy) {
  options.policy = &policyOf(std::string(policy));
}

}  // namespace spanscope::experiment
