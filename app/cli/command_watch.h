// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

namespace spanscope::cli {

/// Adds the command that watches a running server.
void addWatch(CLI::App& app, Context& context);

}  // namespace spanscope::cli
