// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace spanscope::cli {

/// Adds `man` and `man COMMAND`. The pages describe what `app` has when the command runs.
void addMan(CLI::App& app, Context& context);

}  // namespace spanscope::cli
