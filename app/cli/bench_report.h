// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands of benches (engine/jobs/benches.h) share: options and reports.
#pragma once

#include "app/cli/command.h"
#include "app/cli/session_options.h"
#include "engine/experiment/experiment.h"
#include "engine/experiment/statistics.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace spanscope::cli {

struct BenchOptions {
  SessionOptions session;
  std::string shape;  ///< random weights or sizes of this shape; empty: the model of the session
  bool json = false;
};

struct BenchAction {
  std::shared_ptr<const BenchOptions> options;
  std::function<ExitCode()> run;
  std::function<void()> check{};  ///< completes and checks the options, beside SessionOptions::check()
};

// Each function adds the options of a bench to its command.

BenchAction addRunBench(CLI::App& command, const Context& context);
BenchAction addAbbaBench(CLI::App& command, const Context& context);
BenchAction addSpeedBench(CLI::App& command, const Context& context);
BenchAction addStartBench(CLI::App& command, const Context& context);
BenchAction addCacheBench(CLI::App& command, const Context& context);
BenchAction addOpsBench(CLI::App& command, const Context& context);
BenchAction addNeedleBench(CLI::App& command, const Context& context);
BenchAction addSourcesBench(CLI::App& command, const Context& context);
BenchAction addExperimentBench(CLI::App& command, const Context& context,
                               const experiment::Experiment& experiment);

/// Adds options for the settings of model and session that most benches have, except the model itself.
void addEngineSettings(CLI::App& command, BenchOptions& options);

/// Adds --shape. The help begins with `use`, such as "Use random weights".
void addShapeOption(CLI::App& command, BenchOptions& options, const std::string& use);

/// Median, quartiles and all samples, each times `factor`.
nlohmann::ordered_json summaryJson(const experiment::Summary& summary, double factor = 1);
/// The quartiles as "2.15 … 2.57".
std::string spread(const experiment::Summary& summary, double factor, int digits);

/// Ends the progress and writes the report: model and device, then the fields of `json`. Without --json,
/// writes `text` after a line about model and device.
void writeReport(const Context& context, const BenchOptions& options, const workbench::ModelBundle& bundle,
                 const nlohmann::ordered_json& json, const std::string& text);

/// Creates the folder for pictures. Call this function before measuring, so that an unusable folder is an
/// early error. Throws Failure.
void makeFolder(const std::filesystem::path& folder);

/// Shows the current measurement on a terminal. An empty text clears the line.
void showProgress(const Context& context, const std::string& text);

}  // namespace spanscope::cli
