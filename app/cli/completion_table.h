// SPDX-License-Identifier: GPL-3.0-or-later
// What may follow each command on the command line, from what the parser knows. The completions of all shells
// are made from this table.
#pragma once

#include "app/cli/cli11_forward.h"

#include <string>
#include <vector>

namespace spanscope::cli {

/// What an option or an argument takes.
enum class Taken {
  Nothing,  ///< the option is a flag, or there is no argument
  Text,     ///< a text that cannot be completed
  Words,    ///< one of `words`
  Files,
  Folders,
};

struct CompletedValue {
  Taken taken = Taken::Nothing;
  std::string name;                ///< name of the value, "FILE"
  std::vector<std::string> words;  ///< in the order of the help
};

struct CompletedOption {
  std::vector<std::string> names;  ///< with their dashes, "-r" and "--repeats"
  std::string help;                ///< beginning of the help, on one line
  CompletedValue value;
};

struct CompletedCommand {
  std::vector<std::string> path;  ///< {"trace", "show"}; empty: the program itself
  std::string help;
  std::vector<std::string> commands;  ///< commands that may follow; then there is no argument
  std::vector<CompletedOption> options;
  CompletedValue argument;
  bool isLast = true;  ///< whether no second argument may follow the first

  /// The words of `path` with this character between them: "trace show".
  std::string joined(char between) const;
};

/// The program and all its commands. Each command follows the one to which it belongs.
std::vector<CompletedCommand> completionTable(const CLI::App& app);

}  // namespace spanscope::cli
