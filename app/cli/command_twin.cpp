// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/input.h"
#include "engine/base/error.h"
#include "engine/experiment/gzip_text.h"
#include "engine/twin/servers.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace spanscope::cli {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;  // of a file of scenarios, unpacked

ExitCode replayFile(const Context& context, const twin::Server& server, const std::string& file) {
  const std::string name = inputName(file);
  const std::string text = experiment::unpacked(readInput(file, context.streams, kMaxBytes), name, kMaxBytes);
  std::string_view left = text;
  for (std::size_t line = 1; !left.empty(); ++line) {
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    const std::size_t end = std::min(left.find('\n'), left.size());
    const std::string_view scenario = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    const bool isBlank = scenario.find_first_not_of(" \t\r") == std::string_view::npos;
    if (!isBlank) context.streams.out << twin::replayLine(server, scenario, name, line);
    context.streams.out << '\n';
  }
  return ExitCode::Fine;
}

}  // namespace

void addTwin(CLI::App& app, Context& context) {
  CLI::App* group =
      app.add_subcommand("twin", "Say what another server's cache would find of given requests");
  group->footer("Example:\n  spanq twin vllm scenarios.jsonl\n");
  group->require_subcommand(1);
  const auto file = std::make_shared<std::string>();
  for (const twin::Server* server : twin::servers()) {
    CLI::App* command = group->add_subcommand(
        server->name, fmt::format("{}, as {} {} does", server->help, server->title, server->version));
    command->footer(
        fmt::format("{}.\n\nExamples:\n  spanq twin {} scenarios.jsonl\n  spanq twin {} - "
                    "<scenarios.jsonl.gz >found.jsonl\n",
                    server->scenarios, server->name, server->name));
    command
        ->add_option("FILE", *file,
                     "Scenarios, one JSON object a line, perhaps packed by gzip; - for standard input")
        ->required();
    command->callback([&context, server, file] {
      context.action = [&context, server, file] { return replayFile(context, *server, *file); };
    });
  }
}

}  // namespace spanscope::cli
