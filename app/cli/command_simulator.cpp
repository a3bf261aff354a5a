// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/input.h"
#include "app/cli/option_values.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/base/utf8.h"
#include "engine/experiment/gzip_text.h"
#include "engine/simulator/servers.h"
#include "engine/simulator/tracing/cache_tracer.h"
#include "engine/trace/trace_file.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 30U;  // max size of an uncompressed file of scenarios

struct SimulatorCommandOptions {
  std::string file;
  std::string trace;                  ///< empty: no trace
  std::optional<std::uint64_t> line;  ///< line of the scenario to trace
};

bool isBlank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

std::vector<std::string_view> linesOf(std::string_view text) {
  std::vector<std::string_view> lines = splitAt(text, '\n');
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

/// Returns the line, from 1, of the scenario to trace. Throws Failure if there is no such scenario.
std::size_t tracedLine(const std::vector<std::string_view>& lines, const std::string& name,
                       const SimulatorCommandOptions& options) {
  const auto scenarios = static_cast<std::size_t>(
      std::ranges::count_if(lines, [](std::string_view line) { return !isBlank(line); }));
  if (!options.line) {
    if (scenarios != 1)
      throw Failure({name, "trace", counted(scenarios, "scenario"),
                     "one scenario, or --line with the line of a scenario"});
    return static_cast<std::size_t>(std::ranges::find_if_not(lines, isBlank) - lines.begin()) + 1;
  }
  const auto line = static_cast<std::size_t>(*options.line);
  if (line > lines.size() || isBlank(lines[line - 1]))
    throw Failure({name, "line " + std::to_string(line), "nothing", "a scenario"});
  return line;
}

ExitCode replayFile(const Context& context, const simulator::Server& server,
                    const SimulatorCommandOptions& options) {
  const std::string name = inputName(options.file);
  const std::string text =
      experiment::unpacked(readInput(options.file, context.streams, kMaxBytes), name, kMaxBytes);
  const std::vector<std::string_view> lines = linesOf(text);
  std::optional<OutputFile> trace;
  std::size_t traced = 0;
  if (!options.trace.empty()) {
    traced = tracedLine(lines, name, options);
    OutputRules rules{.inputs = {}, .unfinished = context.streams.unfinished, .stop = context.stop};
    if (const auto input = identityOf(options.file)) rules.inputs.push_back(*input);
    trace.emplace(options.trace, rules);
  }
  simulator::ScenarioTrace story(server);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (context.stop.stop_requested()) return ExitCode::Stopped;
    if (!isBlank(lines[i])) {
      context.streams.out << simulator::replayLine(server, lines[i], name, i + 1,
                                                   i + 1 == traced ? &story : nullptr);
    }
    context.streams.out << '\n';
  }
  if (!trace) return ExitCode::Fine;
  trace->write(trace::traceBytes(story.events(), traceHeader()));
  trace->commit();
  return ExitCode::Fine;
}

}  // namespace

void addSimulator(CLI::App& app, Context& context) {
  CLI::App* group =
      app.add_subcommand("simulate", "Compute the cache hits of given requests on another server");
  group->footer("Example:\n  spanq simulate vllm scenarios.jsonl\n");
  group->require_subcommand(1);
  const auto options = std::make_shared<SimulatorCommandOptions>();
  for (const simulator::Server* server : simulator::servers()) {
    CLI::App* command = group->add_subcommand(
        server->name, fmt::format("{}, as {} {} does", server->help, server->title, server->version));
    command->footer(
        fmt::format("{}.\n\nExamples:\n  spanq simulate {} scenarios.jsonl\n  spanq simulate {} - "
                    "<scenarios.jsonl.gz >found.jsonl\n"
                    "  spanq simulate {} scenarios.jsonl --line 3 --trace third.trace\n",
                    server->scenarios, server->name, server->name, server->name));
    command
        ->add_option(
            "FILE", options->file,
            "Scenarios, one JSON object per line, optionally compressed with gzip; - is standard input")
        ->required();
    CLI::Option* trace = command->add_option("--trace", options->trace,
                                             "Record the events of the simulated cache to this trace file");
    addNumber(*command, "--line", options->line,
              "Line of FILE, from 1, with the scenario to trace. Without --line, FILE must have one scenario",
              Range<std::uint64_t>{1, std::uint64_t{1} << 40U})
        ->needs(trace);
    command->callback([&context, server, options] {
      context.action = [&context, server, options] { return replayFile(context, *server, *options); };
    });
  }
}

}  // namespace spanscope::cli
