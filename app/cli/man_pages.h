// SPDX-License-Identifier: GPL-3.0-or-later
// What man shows of the program and its commands, as the parser knows them.
#pragma once

#include "app/cli/cli11_forward.h"

#include <string>
#include <vector>

namespace spanscope::cli {

struct CommandPage {
  std::string name;     ///< that man knows it by: "spanq", "spanq-run"
  std::string command;  ///< that it is about; empty: the program itself
  std::string text;     ///< roff
};

/// One of the program, then one of each of its commands; those of a group ("bench run") share the group's.
std::vector<CommandPage> manPages(const CLI::App& app);

}  // namespace spanscope::cli
