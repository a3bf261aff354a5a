// SPDX-License-Identifier: GPL-3.0-or-later
// What the dock says below a setting, of what it comes to together with others.
#pragma once

#include "engine/workbench/settings.h"

#include <QString>

#include <string_view>

namespace spanscope::ui {

using SettingHint = QString (*)(const workbench::RunSettings&);

/// What gives the text below the setting of that key, empty where there is nothing to say; nullptr: it has
/// none.
SettingHint hintOf(std::string_view key);

}  // namespace spanscope::ui
