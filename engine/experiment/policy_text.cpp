// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/policy_text.h"

#include "engine/base/error.h"
#include "engine/policy/policies.h"
#include "engine/run/run_options.h"

#include <utility>
#include <variant>

namespace spanscope::experiment {
namespace {

policy::Choice policyOf(std::string_view text) {
  auto read = policy::readChoice(text);
  if (auto* choice = std::get_if<policy::Choice>(&read)) return std::move(*choice);
  throw Failure(errorAt("policy", std::string(text), std::get<policy::ChoiceProblem>(read).expected));
}

}  // namespace

std::string everyPolicy() {
  std::string list;
  for (const policy::Policy* policy : policy::policies())
    list += (list.empty() ? "" : ",") + policy::Choice(*policy).name();
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
  options.policy = policyOf(policy);
}

}  // namespace spanscope::experiment
