// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace spanscope::cli {
namespace {

constexpr const char* kBegin = R"(# Completion of spanq for fish, as "spanq completion fish" writes it.

# Whether the words before the one that is completed begin with these.
function __spanq_at
    set -l words (commandline -opc)
    set -e words[1]
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test "$words[$i]" = "$argv[$i]"; or return 1
    end
end

# Whether they are these and no more.
function __spanq_only
    set -l words (commandline -opc)
    set -e words[1]
    test "$words" = "$argv"
end

complete -c spanq -e
complete -c spanq -f
)";

std::string inQuotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// What a value may be, as arguments of "complete"; empty: no more than that there is one.
std::string offersOf(const CompletedValue& value) {
  switch (value.taken) {
    case Taken::Words:
      return fmt::format(" -a {}", inQuotes(fmt::format("{}", fmt::join(value.words, " "))));
    case Taken::Files:
      return " -F";
    case Taken::Folders:
      return " -a '(__fish_complete_directories)'";
    case Taken::Text:
    case Taken::Nothing:
      break;
  }
  return {};
}

std::string optionLine(const std::string& condition, const CompletedOption& option) {
  std::string line = "complete -c spanq -n " + condition;
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (option.value.taken == Taken::Files) {
    line += " -r";
  } else if (option.value.taken != Taken::Nothing) {
    line += " -x";
  }
  return line + offersOf(option.value) + " -d " + inQuotes(option.help) + "\n";
}

}  // namespace

std::string fishCompletion(const std::vector<CompletedCommand>& table) {
  std::string script = kBegin;
  for (const CompletedCommand& command : table) {
    const std::string words = command.path.empty() ? "" : " " + command.joined(' ');
    if (!command.path.empty()) {
      CompletedCommand group = command;
      group.path.pop_back();
      const std::string before = group.path.empty() ? "" : " " + group.joined(' ');
      script += fmt::format("complete -c spanq -n {} -a {} -d {}\n", inQuotes("__spanq_only" + before),
                            command.path.back(), inQuotes(command.help));
    }
    // Options of the program stand before any command.
    const std::string condition =
        inQuotes((command.commands.empty() ? "__spanq_at" : "__spanq_only") + words);
    for (const CompletedOption& option : command.options) script += optionLine(condition, option);
    const std::string offers = offersOf(command.argument);
    if (command.commands.empty() && !offers.empty())
      script += "complete -c spanq -n " + condition + offers + "\n";
  }
  return script;
}

}  // namespace spanscope::cli
