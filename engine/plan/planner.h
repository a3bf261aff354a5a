// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the plan of a query.
#pragma once

#include "engine/base/error.h"
#include "engine/base/ids.h"
#include "engine/plan/draft.h"
#include "engine/plan/plan.h"
#include "engine/query/query.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::plan {

/// How large a query may become when repeats, maps, zips and closures are written out.
struct PlanLimits {
  std::size_t nodes = 1'000'000;                    ///< nodes in all prompts together
  std::size_t textBytes = std::size_t{256} << 20U;  ///< bytes of text in all prompts together
  std::size_t depth = 512;                          ///< nesting of the query as given
};

/// How attention locality arranges its judges.
enum class LocalityShape {
  Tree,      ///< plies of judges, each reading at most k entries, until one judge is left
  MapReduce  ///< one ply of judges with at most k entries each, then one judge that reads all their replies
};

/// Attention locality: one judge of many entries becomes several judges of few entries each. This happens
/// only where a plus declares that the order of the entries does not matter.
struct LocalityOptions {
  std::uint32_t fanIn = 0;  ///< k, the most entries that one judge reads; at least 2, or 0: off
  LocalityShape shape = LocalityShape::Tree;
  /// The question of every ply except the first. It replaces the last user message after the plus. None:
  /// every ply has the same question.
  std::optional<std::string> reducePrompt{};

  bool isOn() const { return fanIn >= 2; }
};

struct PlanOptions {
  std::uint64_t seed = 0;
  /// Switches rules on or off by name ('-' may stand for a blank). A rule that is not named has its default.
  std::map<std::string, bool> rules{};
  /// Whether plus is distributed, whatever `rules` says: a generate directly under a plus in the input of
  /// another generate becomes a closure there.
  bool distribute = true;
  /// How the output of an inner generate reaches the prompt if it is no closure: Anew or Reused.
  OutputForm outputForm = OutputForm::Anew;
  /// The temperature of generates that have none, or null. The reference too treats null like an absent
  /// temperature.
  float temperature = query::kDefaultTemperature;
  LocalityOptions locality{};
  bool recordTrees = false;  ///< keep the whole tree before and after each pass; `explain` shows it
  PlanLimits limits{};
};

struct PlanResult {
  std::optional<Plan> plan;     ///< nothing if there are problems
  std::vector<Error> problems;  ///< `place` is the JSON pointer of the node or field
};

/// Plans a query. It reports everything that is wrong with the query or the options as problems, all at once,
/// and never throws for it: parts that are not resolved yet (parameters, ask, file, augment), values out of
/// range, growth beyond the limits, unknown rules, and a repeat, map or zip that is left because its rule is
/// off.
PlanResult makePlan(const query::Node& query, const PlanOptions& options = {});

/// Appends a problem for each unknown rule, and for options that no rule can follow.
void checkRules(const PlanOptions& options, std::vector<Error>& problems);

/// Applies every rule that is on, bottom up, until none matches. Appends what it did to `plan.rules` and
/// `plan.passes`. If the tree would grow beyond the limits, it appends a problem.
void rewrite(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// The same. It also appends a problem for each node that cannot become a step because its rule is off.
void applyRules(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// Turns a draft that no rule matches any more into steps, results and printed texts; `plan.rules` does not
/// change. If the prompts would grow beyond the limits, it appends a problem; then do not use the plan.
void lower(const Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// The seed of one step. The finalizer of SplitMix64 mixes in each of the three numbers. The seed is the same
/// on every machine and in every version, so that a run can be repeated.
std::uint64_t stepSeed(std::uint64_t planSeed, StepIndex step, std::uint32_t copy);

struct LocalizedQuery {
  std::optional<query::Node> query;  ///< nothing if there are problems
  std::vector<Error> problems;       ///< in the form of a plan's problems
  /// For each place in `query` the one in the given query that it came from. Several may come from one.
  std::map<NodePath, NodePath> origins;
};

/// Writes out attention locality in the query, for servers that do not know it. Repeats and maps are written
/// out too; the rest stays as it is. Absent settings get their defaults.
LocalizedQuery localizedQuery(const query::Node& query, const LocalityOptions& locality);

}  // namespace spanscope::plan
