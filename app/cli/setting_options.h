// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as options. Names, ranges and help come from the list of settings.
#pragma once

#include "app/cli/cli11_forward.h"
#include "engine/workbench/settings.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// The settings with which commands begin. They are those of a new document, except that the number of blocks
/// is 0, which means the usual number.
workbench::RunSettings commandSettings();

/// Adds options for the settings with these keys, in this order. The defaults are the present values of
/// `settings`.
std::vector<CLI::Option*> addSettings(CLI::App& command, workbench::RunSettings& settings,
                                      std::initializer_list<std::string_view> keys);

/// Adds options for all settings with these effects that the command does not have yet, in the order of the
/// list of settings.
std::vector<CLI::Option*> addOtherSettings(CLI::App& command, workbench::RunSettings& settings,
                                           std::initializer_list<workbench::SettingEffect> effects);

}  // namespace spanscope::cli
