// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli11_forward.h"
#include "app/cli/command.h"

namespace spanscope::cli {

/// Adds `spanq bench start`.
void addStartBenchCommand(CLI::App& group, Context& context);

}  // namespace spanscope::cli
