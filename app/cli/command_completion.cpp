// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_completion.h"

#include "app/cli/option_values.h"
#include "engine/base/utf8.h"
#include "engine/experiment/experiment.h"
#include "engine/plan/rules/rules.h"
#include "engine/policy/policies.h"
#include "engine/trace/event_codec.h"
#include "engine/workbench/settings.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>

namespace spanscope::cli {
namespace {

// Each script gives the words up to the cursor to "spanq __complete", which completeWords() answers.

constexpr const char* kBash = R"(# Completion of spanq for bash, as "spanq completion bash" writes it.
_spanq() {
  local lines action program=${COMP_WORDS[0]/#\~/$HOME} current=${COMP_WORDS[COMP_CWORD]}
  # Bash splits words at "=".
  [[ $current == = ]] && current=
  mapfile -t lines < <("$program" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  COMPREPLY=()
  case ${lines[0]} in
    words) COMPREPLY=("${lines[@]:1}") && COMPREPLY=("${COMPREPLY[@]%%$'\t'*}") ;;
    files | folders)
      [[ ${lines[0]} == files ]] && action=-f || action=-d
      # This line fails if a user calls the function directly.
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen "$action" -- "$current")
      ;;
  esac
}

complete -F _spanq spanq
)";

constexpr const char* kZsh = R"(#compdef spanq
# Completion of spanq for zsh, as "spanq completion zsh" writes it: a file _spanq in $fpath.
_spanq() {
  local -a lines offers
  local program=${(Q)words[1]/#\~/$HOME}
  lines=("${(@f)$("$program" __complete "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  case $lines[1] in
    words)
      offers=("${(@)lines[2,-1]//:/\\:}")
      offers=("${(@)offers/$'\t'/:}")
      _describe spanq offers
      ;;
    files) compset -P '--*='; _files ;;
    folders) compset -P '--*='; _files -/ ;;
  esac
}

# In $fpath, this file is the function itself. With "source", the shell only registers the function.
if [[ $funcstack[1] == _spanq ]]; then
  _spanq "$@"
else
  compdef _spanq spanq
fi
)";

constexpr const char* kFish = R"(# Completion of spanq for fish, as "spanq completion fish" writes it.
function __spanq_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program $words[1]
    set -e words[1]
    set -l lines ($program __complete $words "$current" 2>/dev/null)
    set -l kind $lines[1]
    set -e lines[1]
    set -l option (string match -r -- '^--[^=]*=' "$current")
    set -l value (string replace -r -- '^--[^=]*=' '' "$current")
    switch "$kind"
        case words
            printf '%s\n' $lines
        case files
            for path in (__fish_complete_path "$value")
                echo "$option$path"
            end
        case folders
            for path in (__fish_complete_directories "$value" '')
                echo "$option$path"
            end
    end
end

complete -c spanq -e
complete -c spanq -f -a '(__spanq_complete)'
)";

/// "a, b, c" or "a,b,c".
std::vector<std::string> partsOf(std::string_view list) {
  std::vector<std::string> parts;
  for (std::string_view part : splitAt(list, ',')) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

/// Returns the beginning of the help up to the first punctuation mark, because a completion line has little
/// space.
std::string beginningOf(const std::string& help) {
  std::size_t end = std::min(help.find('\n'), help.size());
  for (const char* pause : {"; ", ": ", ", e.g. ", ". "}) end = std::min(end, help.find(pause));
  std::string line = help.substr(0, end);
  if (line.ends_with('.')) line.pop_back();
  return line;
}

/// Returns the name of a policy without the values in brackets, because a shell requires quotes around
/// brackets.
std::string withoutValues(const std::string& name) {
  return name.substr(0, name.find('('));
}

std::vector<std::string> ruleSettings() {
  std::vector<std::string> settings;
  for (const plan::Rule* rule : plan::rules()) {
    std::string name(rule->name);
    std::ranges::replace(name, ' ', '-');
    settings.push_back(name + "=on");
    settings.push_back(name + "=off");
  }
  return settings;
}

/// Returns the choices of a setting by the name of its option.
std::vector<std::string> choicesOf(const std::string& option) {
  std::vector<std::string> names;
  for (const workbench::Setting& setting : workbench::runSettings()) {
    if (setting.option.name != option || setting.choices == nullptr) continue;
    for (const workbench::Choice& choice : setting.choices()) names.push_back(withoutValues(choice.name));
  }
  return names;
}

/// Returns the choices of a field of an experiment, by the names of experiment and field.
std::vector<std::string> fieldWords(const std::string& experiment, const std::string& option) {
  const experiment::Experiment* const found = experiment::findExperiment(experiment);
  if (found == nullptr) return {};
  for (const experiment::ExperimentField& field : experiment::fieldsOf(*found)) {
    if (option != std::string("--") + field.key) continue;
    if (field.kind == experiment::FieldKind::Policies) return policy::policyNames();
    if (field.kind == experiment::FieldKind::Words) return partsOf(field.words);
  }
  return {};
}

std::vector<std::string> wordsOf(const CLI::Option& option, const std::string& name,
                                 const CLI::App& command) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  if (open != std::string::npos && close != std::string::npos)
    return partsOf(std::string_view(type).substr(open + 1, close - open - 1));
  if (name == "--rule") return ruleSettings();
  if (name == "--only") return trace::eventNames();
  std::vector<std::string> words = fieldWords(command.get_name(), name);
  return words.empty() ? choicesOf(name) : words;
}

/// The kind ("words", "files", "folders" or empty), and one line for each word.
struct Offers {
  std::string kind;
  std::vector<std::string> lines;

  void add(const std::string& word, const std::string& help = {}) {
    kind = "words";
    lines.push_back(help.empty() ? word : word + '\t' + help);
  }
};

/// Returns the possible values of an option or an argument.
Offers valuesOf(const CLI::Option& option, const CLI::App& command) {
  const std::string name = option.get_positional() ? option.get_name(true) : option.get_name();
  const std::string type = option.get_type_name();
  // The name of an argument decides its kind, because the type of all arguments is text.
  const std::string value = option.get_positional() ? name : type.substr(0, type.find_first_of(":{"));
  Offers offers;
  for (const std::string& word : wordsOf(option, name, command)) offers.add(word);
  if (!offers.lines.empty()) return offers;
  if (value == "DIR" || value == "PATH" || name == "--models") offers.kind = "folders";
  if (value == "FILE" || value == "MODEL") offers.kind = "files";
  return offers;
}

Offers optionsOf(const CLI::App& command) {
  Offers offers;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) continue;
    const std::string help = beginningOf(option->get_description());
    for (const std::string& name : option->get_snames()) offers.add("-" + name, help);
    for (const std::string& name : option->get_lnames()) offers.add("--" + name, help);
  }
  return offers;
}

std::vector<const CLI::App*> commandsOf(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App*) { return true; });
}

/// Finds the command and the option at the cursor, from the words before the cursor.
class CompletionPlace {
 public:
  explicit CompletionPlace(const CLI::App& app) : m_command(&app) {}

  void pass(const std::string& word) {
    if (m_wanting != nullptr) {
      m_wanting = nullptr;
    } else if (word == "--") {
      m_hasOptions = false;
    } else if (isOption(word)) {
      const CLI::Option* option = m_command->get_option_no_throw(word);
      if (option != nullptr && option->get_items_expected_max() > 0) m_wanting = option;
    } else {
      const auto commands = commandsOf(*m_command);
      const auto found = std::ranges::find_if(
          commands, [&](const CLI::App* command) { return command->get_name() == word; });
      if (found != commands.end()) {
        m_command = *found;
      } else {
        ++m_arguments;
      }
    }
  }

  Offers offersFor(const std::string& word) const {
    if (m_wanting != nullptr) return valuesOf(*m_wanting, *m_command);
    if (isOption(word)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) return optionsOf(*m_command);
      const std::string name = word.substr(0, equals);
      const CLI::Option* option = m_command->get_option_no_throw(name);
      if (option == nullptr || option->get_items_expected_max() == 0) return {};
      Offers offers = valuesOf(*option, *m_command);
      for (std::string& line : offers.lines) line.insert(0, name + '=');
      return offers;
    }
    Offers offers;
    const auto commands = commandsOf(*m_command);
    if (!commands.empty()) {
      if (m_arguments > 0) return {};
      for (const CLI::App* command : commands)
        offers.add(command->get_name(), beginningOf(command->get_description()));
      return offers;
    }
    std::size_t place = m_arguments;
    for (const CLI::Option* option : m_command->get_options()) {
      if (!option->get_positional()) continue;
      const auto most = static_cast<std::size_t>(option->get_items_expected_max());
      if (place < most) return valuesOf(*option, *m_command);
      place -= most;
    }
    return {};
  }

 private:
  bool isOption(const std::string& word) const { return m_hasOptions && word.starts_with('-'); }

  const CLI::App* m_command;
  const CLI::Option* m_wanting = nullptr;  ///< the option whose value follows
  std::size_t m_arguments = 0;
  bool m_hasOptions = true;  ///< no "--" yet
};

}  // namespace

std::string completeWords(const CLI::App& app, const std::vector<std::string>& words) {
  // Bash divides "--layout=padded" into three words and expects only the last word.
  std::vector<std::string> joined;
  std::size_t dividedAt = 0;  // in the last word
  bool followsEquals = false;
  for (const std::string& word : words) {
    const bool isEquals = word == "=" && !joined.empty();
    if (isEquals || followsEquals) {
      joined.back() += word;
      dividedAt = joined.back().size() - (isEquals ? 0 : word.size());
    } else {
      joined.push_back(word);
      dividedAt = 0;
    }
    followsEquals = isEquals;
  }
  if (joined.empty()) return {};
  const std::string current = std::move(joined.back());
  joined.pop_back();
  CompletionPlace place(app);
  for (const std::string& word : joined) place.pass(word);
  const Offers offers = place.offersFor(current);
  if (offers.kind != "words") return offers.kind.empty() ? std::string() : offers.kind + '\n';
  std::string text;
  for (const std::string& line : offers.lines) {
    if (line.starts_with(current)) text += line.substr(dividedAt) + '\n';
  }
  return text.empty() ? text : "words\n" + text;
}

void addCompletion(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("completion", "Write a shell script that completes commands, options and values");
  command->footer(
      "Examples:\n"
      "  source <(spanq completion bash)\n"
      "  spanq completion zsh >~/.zfunc/_spanq\n"
      "  spanq completion fish >~/.config/fish/completions/spanq.fish\n");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "The shell")->required()->check(oneOf({"bash", "zsh", "fish"}));
  command->callback([&context, shell] {
    context.action = [&context, shell] {
      context.streams.out << (*shell == "zsh" ? kZsh : *shell == "fish" ? kFish : kBash);
      return ExitCode::Fine;
    };
  });
}

}  // namespace spanscope::cli
