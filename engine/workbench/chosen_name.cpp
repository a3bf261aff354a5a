// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/chosen_name.h"

#include "engine/compute/backends.h"
#include "engine/policy/choice.h"

#include <algorithm>
#include <cstddef>
#include <variant>

namespace spanscope::workbench {
namespace {

/// Without the number, if there is one.
std::string_view kindOf(std::string_view device) {
  constexpr std::size_t kMostDigits = 3;
  const std::size_t colon = device.find(':');
  if (colon == std::string_view::npos) return device;
  const std::string_view number = device.substr(colon + 1);
  const bool isNumber = !number.empty() && number.size() <= kMostDigits &&
                        number.find_first_not_of("0123456789") == std::string_view::npos;
  const std::string_view kind = device.substr(0, colon);
  return isNumber && kind != compute::kAutoDevice && kind != "cpu" ? kind : device;
}

}  // namespace

bool mayBe(const Setting& setting, std::string_view name) {
  if (setting.kind == TextKind::Policy) return policy::findChoice(name).has_value();
  const std::string_view wanted = setting.kind == TextKind::Device ? kindOf(name) : name;
  const Choices choices = setting.choices();
  return std::any_of(choices.begin(), choices.end(),
                     [&](const Choice& choice) { return choice.name == wanted; });
}

std::string expectedBeside(const Setting& setting, std::string_view name) {
  if (setting.kind != TextKind::Policy) return {};
  const auto read = policy::readChoice(name);
  const auto* problem = std::get_if<policy::ChoiceProblem>(&read);
  return problem == nullptr || problem->policy == nullptr ? std::string() : problem->expected;
}

}  // namespace spanscope::workbench
