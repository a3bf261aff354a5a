// SPDX-License-Identifier: GPL-3.0-or-later
// The command `spanq model probe`.
#pragma once

#include "app/cli/command.h"

namespace spanscope::cli {

/// Adds `spanq model probe`.
void addModelProbe(CLI::App& group, Context& context);

}  // namespace spanscope::cli
