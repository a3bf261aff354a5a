// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace spanscope::cli {

/// Adds `completion bash`, `zsh` and `fish`. The scripts know what `app` has when the command runs.
void addCompletion(CLI::App& app, Context& context);

}  // namespace spanscope::cli
