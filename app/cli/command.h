// SPDX-License-Identifier: GPL-3.0-or-later
// The commands. Each function adds a command with its options to the parser. When the user chooses the
// command and all options are valid, the command sets the action.
#pragma once

#include "app/cli/cli.h"

#include <functional>
#include <stop_token>

namespace CLI {  // NOLINT(readability-identifier-naming): name of the library

// Forward declarations of CLI11 for headers. The whole of CLI11 takes seconds to compile, so only source
// files include it.

class App;
class Option;
class Validator;

}  // namespace CLI

namespace spanscope::cli {

struct Context {
  const Streams& streams;
  const compute::Backends& backends;
  std::stop_token stop;
  std::function<ExitCode()> action;  ///< set by the chosen command
  /// The command records a trace, so it is useful even if nobody reads the output.
  bool recordsTrace = false;
};

void addValidate(CLI::App& app, Context& context);
void addExplain(CLI::App& app, Context& context);
void addRun(CLI::App& app, Context& context);
void addExport(CLI::App& app, Context& context);
void addTrace(CLI::App& app, Context& context);
void addModel(CLI::App& app, Context& context);
void addDevices(CLI::App& app, Context& context);
void addDoctor(CLI::App& app, Context& context);
void addCache(CLI::App& app, Context& context);
void addBench(CLI::App& app, Context& context);
void addRemote(CLI::App& app, Context& context);
void addSimulator(CLI::App& app, Context& context);
void addLesson(CLI::App& app, Context& context);
void addServe(CLI::App& app, Context& context);
void addWatch(CLI::App& app, Context& context);

/// Adds `spanq cache warm`.
void addWarmCommand(CLI::App& group, Context& context);

/// Adds `spanq model get` and `spanq model probe`.
void addModelGet(CLI::App& group, Context& context);
void addModelProbe(CLI::App& group, Context& context);

/// Adds `man` and `man COMMAND`. The pages describe all commands of `app` at the time of the call.
void addMan(CLI::App& app, Context& context);

/// Adds the commands for the list of servers with names: list, add and remove.
void addServerListCommands(CLI::App& group, Context& context);

}  // namespace spanscope::cli
