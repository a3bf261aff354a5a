// SPDX-License-Identifier: GPL-3.0-or-later
// The commands. Each adds itself to the parser with its options. When it is chosen and all options are
// understood, it sets the action to carry out.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/cli11_forward.h"

#include <functional>
#include <stop_token>

namespace spanscope::cli {

struct Context {
  const Streams& streams;
  const compute::Backends& backends;
  std::stop_token stop;
  std::function<ExitCode()> action;  ///< set by the chosen command
  /// The command records a trace, so it is useful even if nobody takes its output.
  bool recordsTrace = false;
};

void addValidate(CLI::App& app, Context& context);
void addExplain(CLI::App& app, Context& context);
void addRun(CLI::App& app, Context& context);
void addExport(CLI::App& app, Context& context);
void addTrace(CLI::App& app, Context& context);
void addModel(CLI::App& app, Context& context);
void addDevices(CLI::App& app, Context& context);
void addCache(CLI::App& app, Context& context);
void addBench(CLI::App& app, Context& context);
void addRemote(CLI::App& app, Context& context);
void addTwin(CLI::App& app, Context& context);
void addLesson(CLI::App& app, Context& context);
void addServe(CLI::App& app, Context& context);

}  // namespace spanscope::cli
