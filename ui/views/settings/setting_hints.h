// SPDX-License-Identifier: GPL-3.0-or-later
// The hints below settings: what a setting means together with others.
#pragma once

#include "engine/compute/backends.h"
#include "engine/workbench/settings.h"

#include <QString>

#include <string_view>
#include <vector>

namespace spanscope::ui {

/// What hints are made from: the settings, and the devices of this machine (null: not known yet).
struct HintInput {
  const workbench::RunSettings& settings;
  const std::vector<compute::Device>* devices = nullptr;
};
using SettingHint = QString (*)(const HintInput&);

/// The function that makes the hint of the setting with this key; nullptr if the setting never has one. The
/// function returns an empty text if there is nothing to say.
SettingHint hintOf(std::string_view key);

}  // namespace spanscope::ui
