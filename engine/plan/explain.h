// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/cost.h"
#include "engine/plan/plan.h"

#include <string>

namespace spanscope::plan {

struct ExplainOptions {
  /// The same query planned without attention locality: what it costs is said beside the plan's own cost.
  /// Not owned; nullptr: nothing to compare with.
  const Plan* withoutLocality = nullptr;
  TextMeasure measure = TextMeasure::characters();
  bool eachTree = false;  ///< the whole tree before and after every pass, not only the first and the last
};

/// The plan as a person reads it, like a database's EXPLAIN: the passes in order (which rule, how often it
/// was applied, why, what it changed), the tree before and after where the plan recorded it, what the plan
/// costs, the steps by ply with their settings and prompts, what the query yields. Lines of text, each ended
/// by a newline.
std::string explain(const Plan& plan, const ExplainOptions& options);
/// Without trees and cost: what a trace keeps.
std::string explain(const Plan& plan);

/// The same as one JSON object on indented lines, ended by a newline.
std::string explainJson(const Plan& plan, const ExplainOptions& options = {});

/// The steps and their prompts as a Graphviz digraph.
std::string explainGraph(const Plan& plan);

}  // namespace spanscope::plan
