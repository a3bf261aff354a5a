// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/settings.h"

#include "engine/policy/choice.h"

#include <algorithm>
#include <variant>

namespace spanscope::workbench {

std::string standardPolicy() {
  return policy::Choice().name();
}

const Setting* findSetting(std::string_view key) {
  const std::vector<Setting>& all = runSettings();
  const auto found =
      std::find_if(all.begin(), all.end(), [key](const Setting& setting) { return setting.key == key; });
  return found == all.end() ? nullptr : &*found;
}

RunSettings onlyThose(const RunSettings& settings, std::initializer_list<SettingEffect> effects) {
  RunSettings only;
  for (const Setting& setting : runSettings()) {
    if (std::find(effects.begin(), effects.end(), setting.effect) == effects.end()) continue;
    std::visit([&](auto member) { only.*member = settings.*member; }, setting.member);
  }
  return only;
}

}  // namespace spanscope::workbench
