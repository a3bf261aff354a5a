// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/completion_table.h"

#include "engine/experiment/experiment.h"
#include "engine/plan/rules/rules.h"
#include "engine/policy/policies.h"
#include "engine/trace/event_codec.h"
#include "engine/workbench/settings.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace spanscope::cli {
namespace {

/// "a, b, c" or "a,b,c".
std::vector<std::string> partsOf(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view part = list.substr(0, comma);
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (!part.empty()) parts.emplace_back(part);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return parts;
}

/// The help up to the first pause in it: a line beside others has no room for more.
std::string beginningOf(const std::string& help) {
  std::size_t end = std::min(help.find('\n'), help.size());
  for (const char* pause : {"; ", ": ", ", e.g. ", ". "}) end = std::min(end, help.find(pause));
  std::string line = help.substr(0, end);
  if (line.ends_with('.')) line.pop_back();
  return line;
}

/// Names of policies alone: with their values in brackets a shell would want them quoted.
std::string withoutValues(const std::string& name) {
  return name.substr(0, name.find('('));
}

std::vector<std::string> ruleSettings() {
  std::vector<std::string> settings;
  for (const plan::Rule* rule : plan::rules()) {
    std::string name(rule->name);
    std::replace(name.begin(), name.end(), ' ', '-');
    settings.push_back(name + "=on");
    settings.push_back(name + "=off");
  }
  return settings;
}

/// Those of a setting by the name of its option.
std::vector<std::string> choicesOf(const std::string& option) {
  std::vector<std::string> names;
  for (const workbench::Setting& setting : workbench::runSettings()) {
    if (setting.option.name != option || setting.choices == nullptr) continue;
    for (const workbench::Choice& choice : setting.choices()) names.push_back(withoutValues(choice.name));
  }
  return names;
}

/// Those of a field of an experiment, by the names of both.
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

CompletedValue valueOf(const CLI::Option& option, const std::string& name, const CLI::App& command) {
  if (option.get_items_expected_max() == 0) return {};
  const std::string type = option.get_type_name();
  // The name of an argument says what it is; its type is that of any text.
  CompletedValue value{.taken = Taken::Text,
                       .name = option.get_positional() ? name : type.substr(0, type.find_first_of(":{")),
                       .words = wordsOf(option, name, command)};
  if (!value.words.empty()) {
    value.taken = Taken::Words;
  } else if (value.name == "DIR" || value.name == "PATH" || name == "--models") {
    value.taken = Taken::Folders;
  } else if (value.name == "FILE" || value.name == "MODEL") {
    value.taken = Taken::Files;
  }
  return value;
}

CompletedOption optionOf(const CLI::Option& option, const CLI::App& command) {
  CompletedOption completed;
  for (const std::string& name : option.get_snames()) completed.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) completed.names.push_back("--" + name);
  completed.help = beginningOf(option.get_description());
  completed.value = valueOf(option, completed.names.back(), command);
  return completed;
}

void addCommand(const CLI::App& app, const std::vector<std::string>& path,
                std::vector<CompletedCommand>& table) {
  CompletedCommand command;
  command.path = path;
  command.help = beginningOf(app.get_description());
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) {
      command.options.push_back(optionOf(*option, app));
      continue;
    }
    command.argument = valueOf(*option, option->get_name(true), app);
    command.isLast = option->get_items_expected_max() == 1;
  }
  const std::vector<const CLI::App*> inner = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* one : inner) command.commands.push_back(one->get_name());
  table.push_back(std::move(command));
  for (const CLI::App* one : inner) {
    std::vector<std::string> longer = path;
    longer.push_back(one->get_name());
    addCommand(*one, longer, table);
  }
}

}  // namespace

std::string CompletedCommand::joined(char between) const {
  std::string text;
  for (const std::string& word : path) text += (text.empty() ? "" : std::string(1, between)) + word;
  return text;
}

std::vector<CompletedCommand> completionTable(const CLI::App& app) {
  std::vector<CompletedCommand> table;
  addCommand(app, {}, table);
  return table;
}

}  // namespace spanscope::cli
