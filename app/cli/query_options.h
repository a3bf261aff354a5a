// SPDX-License-Identifier: GPL-3.0-or-later
// The options that every command which plans a query has.
#pragma once

#include "app/cli/cli.h"
#include "app/workbench/planned_query.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace spanscope::cli {

struct QueryOptionTexts {
  std::vector<std::string> settings;  ///< "name=value"
  std::uint64_t seed = 0;
  bool noDistribute = false;
  std::string outputForm = "anew";
};

void addSettingOption(CLI::App& command, QueryOptionTexts& texts);
void addPlanOptions(CLI::App& command, QueryOptionTexts& texts);

workbench::QueryOptions queryOptions(const QueryOptionTexts& texts);

/// Reads and plans a file; what is wrong with it goes to standard error. Nothing if there was an error.
std::optional<workbench::PlannedQuery> planFile(const std::string& file,
                                                const workbench::QueryOptions& options,
                                                const Streams& streams);

}  // namespace spanscope::cli
