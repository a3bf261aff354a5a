// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/man_page.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/query/shown_text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {
namespace {

// Makes the man pages of the program and its commands from the data of the parser.

struct CommandPage {
  std::string name;     ///< name of the page: "spanq", "spanq-run"
  std::string command;  ///< the command that the page describes; empty: the program itself
  std::string text;     ///< roff
};

constexpr const char* kProgram = "spanq";
/// A longer list of words goes into the text, not beside the option's name.
constexpr std::size_t kLongestWords = 40;

std::vector<const CLI::App*> commandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// The text below the options of a help. Indented lines after a line "Example:" or "Examples:" are examples.
struct Footer {
  std::string notes;
  std::string examples;
};

Footer footerOf(const CLI::App& app) {
  const std::string text = app.get_footer();
  Footer footer;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line == "Example:" || line == "Examples:") continue;
    const bool isExample = line.starts_with("  ");
    (isExample ? footer.examples : footer.notes) += std::string(isExample ? line.substr(2) : line) + "\n";
  }
  return footer;
}

/// "[OPTIONS] FILE...", as in the help.
std::string usageOf(const CLI::App& app) {
  std::string usage = CLI::Formatter().make_usage(&app, "");
  usage.erase(0, std::string_view("Usage:").size());
  while (!usage.empty() && (usage.back() == '\n' || usage.back() == ' ')) usage.pop_back();
  usage.erase(0, std::min(usage.find_first_not_of(' '), usage.size()));
  return usage;
}

/// The names in alphabetical order. The parser sorts options by their addresses in memory.
std::string namesOf(const std::set<CLI::Option*>& options) {
  std::set<std::string> names;
  for (const CLI::Option* option : options) names.insert(option->get_name());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

/// Appends a sentence.
void addSentence(std::string& text, const std::string& sentence) {
  if (text.empty()) {
    text = sentence;
  } else {
    text += (text.ends_with('.') ? " " : ". ") + sentence;
  }
}

ManOption optionOf(const CLI::Option& option) {
  ManOption shown;
  if (option.get_positional()) {
    shown.names.push_back(option.get_name(true));
  } else {
    for (const std::string& name : option.get_snames()) shown.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) shown.names.push_back("--" + name);
  }
  shown.help = option.get_description();
  if (option.get_items_expected_max() > 0) {
    // "TEXT:{a,b}"
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{');
    std::string words = open == std::string::npos ? "" : type.substr(open + 1, type.rfind('}') - open - 1);
    if (!option.get_positional()) {
      shown.value = type.substr(0, type.find_first_of(":{"));
      if (!words.empty() && words.size() <= kLongestWords) {
        std::ranges::replace(words, ',', '|');
        shown.value = words;
        words.clear();
      }
      if (option.get_expected_max() >= CLI::detail::expected_max_vector_size) shown.value += " ...";
    }
    if (!words.empty()) {
      for (std::size_t at = 0; (at = words.find(',', at)) != std::string::npos; at += 2)
        words.replace(at, 1, ", ");
      addSentence(shown.help, "One of: " + words);
    }
    const std::string usual = option.get_default_str();
    if (!usual.empty() && usual != "[]") {
      if (shown.help.ends_with('.')) shown.help.pop_back();
      shown.help += " (default: " + usual + ")";
    }
  }
  if (!option.get_needs().empty()) addSentence(shown.help, "Needs " + namesOf(option.get_needs()));
  if (!option.get_excludes().empty()) addSentence(shown.help, "Not with " + namesOf(option.get_excludes()));
  if (!shown.help.ends_with('.')) shown.help += '.';
  return shown;
}

/// Adds the arguments of `app`, then the options under the headings of the help.
void addOptions(ManPage& page, const CLI::App& app) {
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* one) { return one->get_positional(); }))
    page.option(optionOf(*option));
  for (const std::string& group : app.get_groups()) {
    const std::vector<const CLI::Option*> options = app.get_options([&group](const CLI::Option* option) {
      return !option->get_positional() && !group.empty() && option->get_group() == group;
    });
    if (options.empty()) continue;
    if (group != "Options") page.paragraph(group + ":");
    for (const CLI::Option* option : options) page.option(optionOf(*option));
  }
}

std::string sentence(std::string text) {
  if (!text.ends_with('.')) text += '.';
  return text;
}

/// Adds the last section of a page that has examples.
void addExamples(ManPage& page, const std::string& examples) {
  if (examples.empty()) return;
  page.heading("EXAMPLES");
  page.lines(examples);
  page.paragraph(
      "The examples use files of the source code, in the folder resources. In an installation, these files "
      "are in share/spanscope, next to the folder of the program.");
}

void addExitStatus(ManPage& page) {
  page.heading("EXIT STATUS");
  page.entry("0", "Fine.");
  page.entry("1", "The input is wrong; standard error has one line for each error.");
  page.entry("2", "The command line is wrong.");
  page.entry("3", "The run failed, or the result could not be written.");
  page.entry("130", "Stopped by an interrupt, SIGTERM or SIGHUP.");
}

std::string pageName(const CLI::App& command) {
  return std::string(kProgram) + "-" + command.get_name();
}

std::string programPage(const CLI::App& app) {
  std::string summary = app.get_description();
  if (summary.ends_with('.')) summary.pop_back();
  ManPage page(kProgram, summary, SPANSCOPE_VERSION);
  page.heading("SYNOPSIS");
  page.usage(kProgram, usageOf(app));
  page.heading("DESCRIPTION");
  page.paragraph(
      "A span query is a prompt as a tree. The tree shows which sections are independent of each other. The "
      "program spanq offers the functions of the window on the command line. Each command has its own page. "
      "Press F1 in the window to read the whole manual.");
  page.heading("OPTIONS");
  addOptions(page, app);
  page.heading("COMMANDS");
  std::vector<std::string> pages;
  for (const CLI::App* command : commandsOf(app)) {
    page.entry(command->get_name(), sentence(command->get_description()));
    pages.push_back(pageName(*command));
  }
  addExitStatus(page);
  addExamples(page, footerOf(app).examples);
  pages.emplace_back("spanscope");
  page.seeAlso(pages);
  return page.text();
}

std::string commandPage(const CLI::App& command) {
  ManPage page(pageName(command), command.get_description(), SPANSCOPE_VERSION);
  const std::string called = std::string(kProgram) + " " + command.get_name();
  const std::vector<const CLI::App*> inner = commandsOf(command);
  const Footer footer = footerOf(command);
  std::string examples = footer.examples;

  page.heading("SYNOPSIS");
  if (inner.empty()) page.usage(called, usageOf(command));
  for (const CLI::App* one : inner) page.usage(called + " " + one->get_name(), usageOf(*one));
  page.heading("DESCRIPTION");
  page.paragraph(sentence(command.get_description()));
  if (!footer.notes.empty()) page.paragraph(footer.notes);
  page.heading("OPTIONS");
  addOptions(page, command);
  if (!inner.empty()) page.heading("COMMANDS");
  for (const CLI::App* one : inner) {
    page.subheading(called + " " + one->get_name());
    page.paragraph(sentence(one->get_description()));
    const Footer own = footerOf(*one);
    if (!own.notes.empty()) page.paragraph(own.notes);
    addOptions(page, *one);
    examples += own.examples;
  }
  addExitStatus(page);
  addExamples(page, examples);
  page.seeAlso({kProgram, "spanscope"});
  return page.text();
}

/// One page for the program, then one for each command. The commands of a group ("bench run") share the
/// group's page.
std::vector<CommandPage> manPages(const CLI::App& app) {
  std::vector<CommandPage> pages{{kProgram, {}, programPage(app)}};
  for (const CLI::App* command : commandsOf(app))
    pages.push_back({pageName(*command), command->get_name(), commandPage(*command)});
  return pages;
}

struct ManOptions {
  std::string command;
  std::string folder;
};

ExitCode writePage(const std::vector<CommandPage>& pages, const ManOptions& options, std::ostream& out) {
  std::string known;
  for (const CommandPage& page : pages) {
    if (page.command == options.command) {
      out << page.text;
      return ExitCode::Fine;
    }
    if (!page.command.empty()) known += (known.empty() ? "" : ", ") + page.command;
  }
  refuseOption("COMMAND", query::inQuotes(options.command), "one of " + known);
}

ExitCode writePages(const std::vector<CommandPage>& pages, const ManOptions& options,
                    const Streams& streams) {
  for (const CommandPage& page : pages) {
    const OutputRules rules{.inputs = {}, .unfinished = streams.unfinished, .stop = streams.stop};
    const std::filesystem::path file = std::filesystem::path(options.folder) / (page.name + ".1");
    if (const std::optional<Error> error = writeFile(file, page.text, rules)) throw OutputFailure(*error);
  }
  return ExitCode::Fine;
}

}  // namespace

void addMan(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("man", "Write the manual page of a command, or of spanq");
  command->footer(
      "Examples:\n"
      "  spanq man run | man -l -\n"
      "  spanq man --into ~/.local/share/man/man1\n");
  const auto options = std::make_shared<ManOptions>();
  CLI::Option* name = command->add_option("COMMAND", options->command, "The command (default: spanq itself)");
  command->add_option("--into", options->folder, "Write the pages of all commands into this folder")
      ->type_name("DIR")
      ->excludes(name);
  command->callback([&app, &context, options] {
    context.action = [&app, &context, options] {
      const std::vector<CommandPage> pages = manPages(app);
      return options->folder.empty() ? writePage(pages, *options, context.streams.out)
                                     : writePages(pages, *options, context.streams);
    };
  });
}

}  // namespace spanscope::cli
