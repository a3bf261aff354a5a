// SPDX-License-Identifier: GPL-3.0-or-later
// What the reports of all benchmarks share.
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

/// Model and device, as the head of a JSON report, and as the first line of a report for people.
nlohmann::ordered_json benchHeader(const workbench::ModelBundle& bundle, const SessionOptions& session);
void writeBenchHeader(std::ostream& out, const workbench::ModelBundle& bundle, const SessionOptions& session);

/// Makes the folder for pictures before anything is measured, so that minutes of work are not lost because it
/// cannot be made. Throws Failure.
void makeFolder(const std::filesystem::path& folder);

/// Shows on a terminal what is being measured. An empty text wipes the line.
void showProgress(const Context& context, const std::string& text);

}  // namespace spanscope::cli
