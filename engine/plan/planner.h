// SPDX-License-Identifier: GPL-3.0-or-later
// From a query to its plan.
#pragma once

#include "engine/base/error.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::plan {

/// How large a query may become when its repeats, maps, zips and closures are written out.
struct PlanLimits {
  std::size_t nodes = 1'000'000;                    ///< nodes of all prompts together
  std::size_t textBytes = std::size_t{256} << 20U;  ///< bytes of text in all prompts together
  std::size_t depth = 512;                          ///< nesting of the query as given
};

/// How attention locality lays out its judges.
enum class LocalityShape {
  Tree,      ///< plies of judges, each of which reads at most k entries, until one is left
  MapReduce  ///< one ply of judges of at most k entries each, then one that reads all their replies
};

/// Attention locality: one judge of many becomes judges of few. Only where a plus declares that the order of
/// what is judged does not matter.
struct LocalityOptions {
  std::uint32_t fanIn = 0;  ///< k, the most entries that one judge reads; 0: off; else from 2 up
  LocalityShape shape = LocalityShape::Tree;
  /// The question of every ply but the first, in place of the last user message after the plus; none: the
  /// same question all the way up.
  std::optional<std::string> reducePrompt{};

  bool isOn() const { return fanIn >= 2; }
};

struct PlanOptions {
  std::uint64_t seed = 0;
  /// Rules switched on or off by name ('-' may stand for a blank); the others are as they are by default.
  std::map<std::string, bool> rules{};
  /// Plus distribution, whatever `rules` says: a generate directly under a plus in another generate's input
  /// becomes a closure there.
  bool distribute = true;
  /// How the output of an inner generate reaches the prompt where it is no closure: Anew or Reused.
  OutputForm outputForm = OutputForm::Anew;
  /// For generates that give none, or null: the reference has no other value for null either.
  float temperature = query::kDefaultTemperature;
  LocalityOptions locality{};
  bool recordTrees = false;  ///< keep the whole tree before and after each pass, for `explain`
  PlanLimits limits{};
};

struct PlanResult {
  std::optional<Plan> plan;     ///< nothing if there are problems
  std::vector<Error> problems;  ///< `place` is the JSON pointer of the node or field in question
};

/// Plans a query. Never throws for what the query or the options say: what cannot be planned yet (unresolved
/// parameters, ask, file, augment), what is out of range, what would grow beyond the limits, rules that do
/// not exist and a repeat, map or zip that is left because its rule is off are problems, all of them at once.
PlanResult makePlan(const query::Node& query, const PlanOptions& options = {});

}  // namespace spanscope::plan
