// SPDX-License-Identifier: GPL-3.0-or-later
// The man pages of the program and its commands, made from what the parser knows.
#pragma once

#include "app/cli/cli11_forward.h"

#include <string>
#include <vector>

namespace spanscope::cli {

struct CommandPage {
  std::string name;     ///< name of the page: "spanq", "spanq-run"
  std::string command;  ///< the command that the page describes; empty: the program itself
  std::string text;     ///< roff
};

/// One page for the program, then one for each command. The commands of a group ("bench run") share the
/// group's page.
std::vector<CommandPage> manPages(const CLI::App& app);

}  // namespace spanscope::cli
