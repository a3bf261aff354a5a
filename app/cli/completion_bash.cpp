// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace spanscope::cli {
namespace {

constexpr const char* kBegin = R"(# Completion of spanq for bash, as "spanq completion bash" writes it.

_spanq() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  # Bash parts words at "=".
  if [[ $current == '=' ]]; then
    current=
  elif [[ $before == '=' && $COMP_CWORD -ge 2 ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
)";

/// `values`, `files`: what may stand here beside an option; `wanted`: that no option may.
constexpr const char* kEnd = R"(    *)
      return
      ;;
  esac

  COMPREPLY=()
  if [[ -z $wanted && $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  elif [[ -n $files ]]; then
    # Fails where this is called by hand.
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$files" -- "$current")
  fi
}

complete -F _spanq spanq
)";

/// What is offered for a value, as assignments; nothing where nobody can guess it.
std::string assignments(const CompletedValue& value) {
  const bool isFile = value.taken == Taken::Files;
  const bool isFolder = value.taken == Taken::Folders;
  const std::string words =
      value.taken == Taken::Words ? fmt::format("'{}'", fmt::join(value.words, " ")) : std::string();
  return fmt::format("values={} files={}", words, isFile ? "-f" : (isFolder ? "-d" : ""));
}

/// The words of commands that have others below them.
std::string groupsOf(const std::vector<CompletedCommand>& table) {
  std::vector<std::string> groups;
  for (const CompletedCommand& command : table) {
    if (!command.path.empty() && !command.commands.empty()) groups.push_back(command.joined(' '));
  }
  return fmt::format("{}", fmt::join(groups, " | "));
}

std::string branchOf(const CompletedCommand& command) {
  std::vector<std::string> names;
  std::string wants;
  for (const CompletedOption& option : command.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
    if (option.value.taken == Taken::Nothing) continue;
    wants += fmt::format("        {}) wanted=yes {} ;;\n", fmt::join(option.names, " | "),
                         assignments(option.value));
  }
  std::string branch =
      fmt::format("    '{}')\n      options='{}'\n", command.joined(' '), fmt::join(names, " "));
  const std::string own = command.commands.empty()
                              ? assignments(command.argument)
                              : fmt::format("values='{}'", fmt::join(command.commands, " "));
  branch += "      " + own + "\n";
  if (!wants.empty()) branch += "      case $before in\n" + wants + "      esac\n";
  return branch + "      ;;\n";
}

}  // namespace

std::string bashCompletion(const std::vector<CompletedCommand>& table) {
  std::string script = kBegin;
  script += fmt::format(
      "\n  local command=\n"
      "  if ((COMP_CWORD > 1)); then\n"
      "    command=${{COMP_WORDS[1]}}\n"
      "    case $command in\n"
      "      {}) ((COMP_CWORD > 2)) && command+=\" ${{COMP_WORDS[2]}}\" ;;\n"
      "    esac\n"
      "  fi\n\n"
      "  local options= values= files= wanted=\n"
      "  case $command in\n",
      groupsOf(table));
  for (const CompletedCommand& command : table) script += branchOf(command);
  return script + kEnd;
}

}  // namespace spanscope::cli
