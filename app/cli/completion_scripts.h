// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/completion_table.h"

#include <string>
#include <vector>

namespace spanscope::cli {

/// A script with which bash completes what follows "spanq": commands, options, words, names of files. A
/// comment at its beginning says what it is.
std::string bashCompletion(const std::vector<CompletedCommand>& table);
/// The same for zsh, to be the file "_spanq" in a folder of its function path.
std::string zshCompletion(const std::vector<CompletedCommand>& table);
std::string fishCompletion(const std::vector<CompletedCommand>& table);

}  // namespace spanscope::cli
