// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/cost.h"
#include "engine/plan/plan.h"

#include <string>

namespace spanscope::plan {

struct ExplainOptions {
  /// A plan of the same query without attention locality: the text then says its cost beside the plan's own.
  /// Not owned; nullptr: no comparison.
  const Plan* withoutLocality = nullptr;
  TextMeasure measure = TextMeasure::characters();
  bool eachTree = false;  ///< the whole tree before and after every pass; otherwise only before the first and
                          ///< after the last
};

/// Explains the plan to a person, like a database's EXPLAIN: the passes in order (which rule, how often it
/// was applied, why, what it changed), the tree before and after if the plan recorded it, the cost of the
/// plan, the steps by ply with their settings and prompts, and what the query yields. Each line ends with a
/// newline.
std::string explain(const Plan& plan, const ExplainOptions& options);
/// The same without trees and cost. Traces keep this text.
std::string explain(const Plan& plan);

/// The same as a JSON object, on indented lines. It ends with a newline.
std::string explainJson(const Plan& plan, const ExplainOptions& options = {});

/// The steps and their prompts as a Graphviz digraph.
std::string explainGraph(const Plan& plan);

}  // namespace spanscope::plan
