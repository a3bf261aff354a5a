// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/completion_scripts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace spanscope::cli {
namespace {

/// As it stands between single quotes; before each of `special` stands a backslash.
std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// ":NAME:action" behind an option, or as an argument.
std::string actionOf(const CompletedValue& value) {
  const std::string name = escaped(value.name, ":\\");
  switch (value.taken) {
    case Taken::Nothing:
      return {};
    case Taken::Words:
      return fmt::format(":{}:({})", name, escaped(fmt::format("{}", fmt::join(value.words, " ")), ":\\"));
    case Taken::Files:
      return ":" + name + ":_files";
    case Taken::Folders:
      return ":" + name + ":_files -/";
    case Taken::Text:
      break;
  }
  return ":" + name + ": ";
}

std::string optionSpec(const std::string& name, const CompletedOption& option) {
  const bool takesValue = option.value.taken != Taken::Nothing;
  const bool isLong = name.starts_with("--");
  return fmt::format("'*{}{}[{}]{}'", name, takesValue ? (isLong ? "=" : "+") : "",
                     escaped(option.help, "[]:\\"), actionOf(option.value));
}

std::string functionName(const CompletedCommand& command) {
  return command.path.empty() ? "_spanq" : "_spanq_" + command.joined('_');
}

const CompletedCommand* find(const std::vector<CompletedCommand>& table, std::vector<std::string> path,
                             const std::string& last) {
  path.push_back(last);
  for (const CompletedCommand& command : table) {
    if (command.path == path) return &command;
  }
  return nullptr;
}

std::string functionOf(const std::vector<CompletedCommand>& table, const CompletedCommand& command) {
  const bool isGroup = !command.commands.empty();
  std::string text = functionName(command) + "() {\n";
  if (isGroup) {
    text +=
        "  local curcontext=\"$curcontext\" state line\n"
        "  typeset -A opt_args\n";
  }
  text += isGroup ? "  _arguments -C" : "  _arguments -s";
  for (const CompletedOption& option : command.options) {
    for (const std::string& name : option.names) text += " \\\n    " + optionSpec(name, option);
  }
  if (!isGroup) {
    if (command.argument.taken != Taken::Nothing)
      text += fmt::format(" \\\n    '{}{}'", command.isLast ? "1" : "*", actionOf(command.argument));
    return text + "\n}\n\n";
  }
  text +=
      " \\\n    ': :->command' \\\n    '*::: :->rest'\n  case $state in\n    command)\n      local -a "
      "commands\n      commands=(\n";
  for (const std::string& name : command.commands) {
    const CompletedCommand* const inner = find(table, command.path, name);
    text += fmt::format("        '{}:{}'\n", escaped(name, ":\\"), escaped(inner->help, ":\\"));
  }
  text +=
      "      )\n      _describe -t commands command commands\n      ;;\n    rest)\n"
      "      words=($line[1] \"${words[@]}\")\n      ((CURRENT += 1))\n      case $line[1] in\n";
  for (const std::string& name : command.commands)
    text += fmt::format("        {}) {} ;;\n", name, functionName(*find(table, command.path, name)));
  return text + "      esac\n      ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zshCompletion(const std::vector<CompletedCommand>& table) {
  std::string script =
      "#compdef spanq\n"
      "# Completion of spanq for zsh, as \"spanq completion zsh\" writes it: a file _spanq in $fpath.\n\n";
  for (const CompletedCommand& command : table) script += functionOf(table, command);
  // In $fpath this file is the function itself; sourced, it only makes it known.
  return script +
         "if [[ $funcstack[1] == _spanq ]]; then\n  _spanq \"$@\"\nelse\n  compdef _spanq spanq\nfi\n";
}

}  // namespace spanscope::cli
