// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/setting.h"

#include "engine/compute/backends.h"
#include "engine/policy/choice.h"

#include <algorithm>
#include <variant>

namespace spanscope::workbench {

bool mayBe(const Setting& setting, std::string_view name) {
  if (setting.kind == TextKind::Policy) return policy::findChoice(name).has_value();
  if (setting.kind == TextKind::Device && compute::deviceKindOf(name) != nullptr) return true;
  const Choices choices = setting.choices();
  return std::any_of(choices.begin(), choices.end(),
                     [&](const Choice& choice) { return choice.name == name; });
}

std::string expectedBeside(const Setting& setting, std::string_view name) {
  if (setting.kind != TextKind::Policy) return {};
  const auto read = policy::readChoice(name);
  const auto* problem = std::get_if<policy::ChoiceProblem>(&read);
  return problem == nullptr || problem->policy == nullptr ? std::string() : problem->expected;
}

}  // namespace spanscope::workbench
