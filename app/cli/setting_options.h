// SPDX-License-Identifier: GPL-3.0-or-later
// Settings as options: names, ranges and help are those of the list of settings.
#pragma once

#include "app/cli/cli11_forward.h"
#include "engine/workbench/settings.h"

#include <initializer_list>
#include <string_view>
#include <vector>

namespace spanscope::cli {

/// What commands begin with. As documents, but for the number of blocks, which is 0: as many as are usual.
workbench::RunSettings commandSettings();

/// Adds the options of these settings, by their keys, in that order. The default is what `settings` has now.
std::vector<CLI::Option*> addSettings(CLI::App& command, workbench::RunSettings& settings,
                                      std::initializer_list<std::string_view> keys);

/// Adds those of the effects that the command does not have yet, in the order of the list.
std::vector<CLI::Option*> addOtherSettings(CLI::App& command, workbench::RunSettings& settings,
                                           std::initializer_list<workbench::SettingEffect> effects);

}  // namespace spanscope::cli
