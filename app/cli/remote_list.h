// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/cli11_forward.h"
#include "app/cli/command.h"

namespace spanscope::cli {

/// The commands of the list of servers that have names: list, add and remove.
void addServerListCommands(CLI::App& group, Context& context);

}  // namespace spanscope::cli
