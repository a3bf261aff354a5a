// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace spanscope::cli {

/// `man` and `man COMMAND`. The pages know what `app` has when the command is performed.
void addMan(CLI::App& app, Context& context);

}  // namespace spanscope::cli
