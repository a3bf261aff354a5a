// SPDX-License-Identifier: GPL-3.0-or-later
// Watches the cache of a running server, and records it as a trace.

#include "app/cli/asked_server.h"
#include "app/cli/command.h"
#include "app/cli/option_values.h"
#include "app/cli/terminal_output.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/remote/watch/watch.h"
#include "engine/text/tokenizer.h"
#include "engine/trace/recorder.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace spanscope::cli {
namespace {

struct WatchOptions {
  ServerOptions server;
  std::vector<std::string> events;
  std::vector<std::string> replays;
  std::string topic;
  bool binds = false;
  std::string tokenizer;  ///< directory or file
  std::string trace;
  std::optional<double> seconds;  ///< nothing: until a stop
  bool json = false;
};

watch::WatchConfig watchConfig(const Context& context, const WatchOptions& options,
                               const std::optional<AskedServer>& server) {
  watch::WatchConfig config;
  if (server) {
    config.url = server->server.url;
    config.access = server->server.access;
  }
  if (options.replays.size() > options.events.size())
    refuseOption("--replay", counted(options.replays.size(), "endpoint"),
                 "at most one --replay for each --events, in the same order");
  for (std::size_t i = 0; i < options.events.size(); ++i) {
    config.publishers.push_back({.endpoint = options.events[i],
                                 .replayEndpoint = i < options.replays.size() ? options.replays[i] : "",
                                 .topic = options.topic,
                                 .binds = options.binds});
  }
  if (!options.tokenizer.empty()) {
    showProgress(context, "reading the tokenizer");
    config.tokenizer = text::loadTokenizer(options.tokenizer);
    config.model = options.tokenizer;
    showProgress(context, "");
  }
  return config;
}

std::string blocksText(const watch::WatchState& state) {
  std::string text = counted(state.cached, "cached block");
  if (state.unknown > 0) text += ", " + std::to_string(state.unknown) + " with unknown content";
  return text;
}

std::string tokensText(const watch::TokenTotals& tokens) {
  const double share =
      tokens.prompt == 0 ? 0 : 100 * static_cast<double>(tokens.cached) / static_cast<double>(tokens.prompt);
  return fmt::format("{} of {} cached ({:.1f} %)", tokens.cached, counted(tokens.prompt, "prompt token"),
                     share);
}

/// The state on one line.
std::string stateText(const watch::WatchState& state, bool hasEvents) {
  std::string text = state.server.empty() ? "connecting" : state.server;
  if (hasEvents) text += " · " + counted(state.events, "event") + " · " + blocksText(state);
  if (state.tasks > 0) text += " · " + counted(state.tasks, "request");
  if (state.tokens) text += " · " + tokensText(*state.tokens);
  if (!state.problem.empty()) text += " · " + state.problem;
  return text;
}

std::string summaryText(const watch::WatchState& state, bool hasEvents) {
  std::string text = (state.server.empty() ? std::string("no server") : state.server) + "\n";
  if (hasEvents) {
    text += "  events: " + std::to_string(state.events) + " in " + counted(state.messages, "message") + "\n";
    text += "  gaps: " + std::to_string(state.gaps) +
            (state.gaps > 0 ? ", " + std::to_string(state.lost) + " of them never filled" : "") + "\n";
    text += "  blocks: " + blocksText(state) + "\n";
  }
  if (state.tasks > 0) text += "  requests: " + std::to_string(state.tasks) + "\n";
  text += "  tokens: " + (state.tokens ? tokensText(*state.tokens) : "not reported") + "\n";
  return text;
}

nlohmann::ordered_json summaryJson(const watch::WatchState& state) {
  nlohmann::ordered_json json{{"server", state.server},          {"messages", state.messages},
                              {"events", state.events},          {"gaps", state.gaps},
                              {"unfilled_gaps", state.lost},     {"cached_blocks", state.cached},
                              {"unknown_blocks", state.unknown}, {"requests", state.tasks}};
  json["prompt_tokens"] = state.tokens ? nlohmann::ordered_json(state.tokens->prompt) : nullptr;
  json["cached_tokens"] = state.tokens ? nlohmann::ordered_json(state.tokens->cached) : nullptr;
  json["problem"] = state.problem;
  return json;
}

ExitCode watchServer(const Context& context, const WatchOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPeriod(50);
  const Streams& streams = context.streams;
  std::optional<AskedServer> server;
  if (!options.server.url.empty()) {
    server = serverToAsk(context, options.server);
    if (!server) return ExitCode::RunFailed;
  }
  const bool hasEvents = !options.events.empty();
  watch::WatchConfig config = watchConfig(context, options, server);
  trace::Recorder recorder(watch::recorderOptions(config));
  if (!options.trace.empty()) {
    OutputRules rules{.inputs = {}, .unfinished = streams.unfinished, .stop = context.stop};
    recorder.startFile(OutputFile(options.trace, rules), traceHeader());
  }
  auto watch = std::make_unique<watch::Watch>(std::move(config), recorder);
  if (streams.endsByItself != nullptr) *streams.endsByItself = true;
  const Clock::time_point begin = Clock::now();
  std::vector<trace::Event> events;
  watch::WatchState state;
  std::string problem;
  while (!context.stop.stop_requested()) {
    recorder.drain(events);
    events.clear();
    state = watch->state();
    showProgress(context, stateText(state, hasEvents));
    if (!state.problem.empty() && state.problem != problem) {
      showProgress(context, "");
      streams.err << "warning: " << state.problem << '\n' << std::flush;
    }
    problem = state.problem;
    if (state.hasEnded) break;
    if (options.seconds && Clock::now() - begin >= std::chrono::duration<double>(*options.seconds)) break;
    std::this_thread::sleep_for(kPeriod);
  }
  state = watch->state();
  watch.reset();
  showProgress(context, "");
  if (options.json)
    streams.out << jsonText(summaryJson(state)) << '\n';
  else
    streams.out << summaryText(state, hasEvents);
  if (const std::optional<Error> error = recorder.finishFile()) {
    streams.err << error->message() << '\n';
    return ExitCode::RunFailed;
  }
  return state.hasEnded ? ExitCode::RunFailed : ExitCode::Fine;
}

}  // namespace

void addWatch(CLI::App& app, Context& context) {
  const auto options = std::make_shared<WatchOptions>();
  CLI::App* command =
      app.add_subcommand("watch", "Watch the cache of a running server, and record its events");
  command->footer(
      R"(Examples:
  spanq watch http://localhost:8000 --events tcp://localhost:5557 --tokenizer smollm2 -o vllm.trace
  spanq watch http://localhost:8080 --seconds 60 -o slots.trace
)");
  addServerOptions(*command, options->server);
  command->get_option("URL")->required(false);
  command
      ->add_option(
          "--events", options->events,
          "Endpoint of the server's KV events, e.g. tcp://gpu-3:5557; can be repeated, once per "
          "data-parallel rank. With *, e.g. tcp://*:5557, the command waits until the server connects")
      ->type_name("ENDPOINT")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--replay", options->replays,
          "Endpoint that sends missing events again. Repeat the option for each --events, in the same order")
      ->type_name("ENDPOINT")
      ->allow_extra_args(false);
  command->add_option("--topic", options->topic, "Receive only events with this topic (default: all topics)")
      ->type_name("TOPIC");
  command->add_flag("--bind", options->binds,
                    "Bind the endpoint of events and wait until the server connects");
  command
      ->add_option("--tokenizer", options->tokenizer,
                   "Folder or file of the server's model, to show tokens as text")
      ->type_name("MODEL");
  command->add_option("-o,--output", options->trace, "Record the events to this trace file")
      ->type_name("FILE");
  constexpr double kMostWatchSeconds = 1e9;
  addNumber(*command, "--seconds", options->seconds,
            "Stop after this number of seconds (default: at an interrupt)",
            Range<double>{0.001, kMostWatchSeconds});
  command->add_flag("--json", options->json, "Write the summary as JSON");
  command->callback([&context, options] {
    if (options->server.url.empty() && options->events.empty())
      refuseOption("URL", "no server", "the address of a server, or --events with an endpoint");
    context.recordsTrace = !options->trace.empty();
    context.action = [&context, options] { return watchServer(context, *options); };
  });
}

}  // namespace spanscope::cli
