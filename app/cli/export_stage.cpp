// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/export_stage.h"

#include "engine/base/error.h"
#include "engine/plan/planner.h"

#include <CLI/CLI.hpp>

#include <utility>

namespace spanscope::cli {
void addStageOption(CLI::App& command, std::string& stage) {
  command
      .add_option(
          "--stage", stage,
          "The query as it was read, after one round of the reference's simplify (simplified), after "
          "its whole optimizer (optimized), or one line for each bulk call that the server's endpoint "
          "takes (lowered)")
      ->check(CLI::IsMember({"read", "simplified", "optimized", "lowered"}))
      ->capture_default_str();
}

query::Node localized(const query::Node& query, const plan::LocalityOptions& locality,
                      const std::string& name) {
  if (!locality.isOn()) return query;
  plan::LocalizedQuery result = plan::localizedQuery(query, locality);
  if (!result.query) {
    Error& problem = result.problems.front();
    problem.file = name;
    throw Failure(std::move(problem));
  }
  return std::move(*result.query);
}

}  // namespace spanscope::cli
