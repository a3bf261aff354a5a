// SPDX-License-Identifier: GPL-3.0-or-later
// What the dock says below a setting, of what it comes to together with others.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/settings.h"

#include <QString>

#include <string_view>
#include <vector>

namespace spanscope::ui {

/// What hints tell of: the settings, and the devices of this machine; null: not known yet.
struct HintInput {
  const workbench::RunSettings& settings;
  const std::vector<compute::Device>* devices = nullptr;
};
using SettingHint = QString (*)(const HintInput&);

/// What gives the text below the setting of that key, empty where there is nothing to say; nullptr: it has
/// none.
SettingHint hintOf(std::string_view key);

}  // namespace spanscope::ui
