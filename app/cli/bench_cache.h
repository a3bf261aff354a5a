// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

#include <CLI/CLI.hpp>

namespace spanscope::cli {

/// `spanq bench cache`.
void addCacheBenchCommand(CLI::App& group, Context& context);

}  // namespace spanscope::cli
