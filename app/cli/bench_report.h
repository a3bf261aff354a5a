// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that the reports of all benchmarks share.
#pragma once

#include "app/cli/command.h"
#include "app/cli/session_options.h"
#include "engine/experiment/statistics.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>

namespace spanscope::cli {

/// Median, quartiles and all samples, each times `factor`.
nlohmann::ordered_json summaryJson(const experiment::Summary& summary, double factor = 1);
/// The quartiles as "2.15 … 2.57".
std::string spread(const experiment::Summary& summary, double factor, int digits);

/// The model and the device, for the head of a JSON report and the first line of a text report.
nlohmann::ordered_json benchHeader(const workbench::ModelBundle& bundle, const SessionOptions& session);
void writeBenchHeader(std::ostream& out, const workbench::ModelBundle& bundle, const SessionOptions& session);

/// Creates the folder for pictures. Call this function before measuring, so that an unusable folder is an
/// early error. Throws Failure.
void makeFolder(const std::filesystem::path& folder);

/// Shows the current measurement on a terminal. An empty text clears the line.
void showProgress(const Context& context, const std::string& text);

}  // namespace spanscope::cli
