// SPDX-License-Identifier: GPL-3.0-or-later
// What may be typed behind each command, as the parser knows it: completions of all shells are made from it.
#pragma once

#include "app/cli/cli11_forward.h"

#include <string>
#include <vector>

namespace spanscope::cli {

/// What stands behind an option, or in the place of an argument.
enum class Taken {
  Nothing,  ///< the option is a flag, or there is no argument
  Text,     ///< something that nobody can guess
  Words,    ///< one of `words`
  Files,
  Folders,
};

struct CompletedValue {
  Taken taken = Taken::Nothing;
  std::string name;                ///< of the value, "FILE"
  std::vector<std::string> words;  ///< in the order of the help
};

struct CompletedOption {
  std::vector<std::string> names;  ///< with their dashes, "-r" and "--repeats"
  std::string help;                ///< the beginning of it, in a line
  CompletedValue value;
};

struct CompletedCommand {
  std::vector<std::string> path;  ///< {"trace", "show"}; empty: the program itself
  std::string help;
  std::vector<std::string> commands;  ///< that may follow; then there is no argument
  std::vector<CompletedOption> options;
  CompletedValue argument;
  bool isLast = true;  ///< whether no second argument may follow the first

  /// "trace show", with any sign between the words.
  std::string joined(char between) const;
};

/// The program and all its commands, each behind the one that it belongs to.
std::vector<CompletedCommand> completionTable(const CLI::App& app);

}  // namespace spanscope::cli
