// SPDX-License-Identifier: GPL-3.0-or-later
// From the text of a query to its plan: read, give parameters their values, plan; with everything that is
// wrong on the way, each at its place in the text.
#pragma once

#include "engine/plan/plan.h"
#include "engine/query/diagnostic.h"
#include "engine/query/query.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::workbench {

struct QueryOptions {
  std::map<std::string, std::string> parameters;  ///< values by name
  std::uint64_t seed = 0;
  bool distribute = true;  ///< plus distribution: nested generation reaches the outer prompt as a closure
  plan::OutputForm outputForm = plan::OutputForm::Anew;  ///< how it does otherwise: Anew or Reused
};

struct ReadQuery {
  std::optional<query::Node> query;  ///< with its parameters resolved; nothing if there was an error
  std::vector<query::Diagnostic> diagnostics;
};

struct PlannedQuery {
  std::optional<query::Node> query;
  std::optional<plan::Plan> plan;  ///< nothing if there was an error
  std::vector<query::Diagnostic> diagnostics;
};

/// Reads a query and gives its parameters their values. A number that is left without one is an error.
ReadQuery readQuery(std::string_view text, const std::map<std::string, std::string>& parameters);

/// The same, and what servers cannot read is an error too: `ask` and `file`, which are resolved before a
/// query is sent.
ReadQuery readQueryForServer(std::string_view text, const std::map<std::string, std::string>& parameters);

PlannedQuery planQuery(std::string_view text, const QueryOptions& options);

}  // namespace spanscope::workbench
