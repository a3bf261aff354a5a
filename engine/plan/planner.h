// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the plan of a query. Open this file for the options and limits of planning.
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

/// The max size of a query after repeats, maps, zips and subquery results are written out.
struct PlanLimits {
  std::size_t nodes = 1'000'000;                    ///< nodes in all prompts together
  std::size_t textBytes = std::size_t{256} << 20U;  ///< bytes of text in all prompts together
  std::size_t depth = 512;                          ///< nesting of the query as given
};

/// The arrangement of the judges of attention locality.
enum class LocalityShape {
  Tree,      ///< levels of judges, each with at most k entries, until one judge is left
  MapReduce  ///< one level of judges with at most k entries each, then one judge that reads all their answers
};

/// Attention locality replaces one judge of many entries by several judges of few entries each. The rule
/// applies only under a plus, which declares that the order of the entries does not matter.
struct LocalityOptions {
  std::uint32_t fanIn = 0;  ///< k, the max number of entries that one judge reads; at least 2, or 0: off
  LocalityShape shape = LocalityShape::Tree;
  /// The question of every level except the first. This question replaces the last user message after the
  /// plus. Nothing: all levels have the same question.
  std::optional<std::string> reducePrompt{};

  bool isOn() const { return fanIn >= 2; }
};

struct PlanOptions {
  std::uint64_t seed = 0;
  /// Switches rules on or off by name. A '-' may replace a space. A rule without an entry has its default.
  std::map<std::string, bool> rules{};
  /// Whether plus is distributed; `rules` cannot change this. A generate node directly under a plus in the
  /// input of another generate node then becomes a subquery result.
  bool distribute = true;
  /// How the output of a subquery reaches the outer prompt, if the outer prompt does not contain the
  /// subquery's prompt. Continuation is not allowed.
  OutputForm outputForm = OutputForm::Recomputed;
  /// The temperature of generate nodes without a temperature, or with null. IBM/spnl also treats null as
  /// absent.
  float temperature = query::kDefaultTemperature;
  LocalityOptions locality{};
  bool recordTrees = false;  ///< keep the whole tree before and after each pass; `explain` shows it
  PlanLimits limits{};
};

struct PlanResult {
  std::optional<Plan> plan;     ///< nothing if there are problems
  std::vector<Error> problems;  ///< `place` is the JSON pointer of the node or field
};

/// Plans a query. Reports all faults of the query and the options as problems, in one call. Never throws for
/// a fault. Problems are:
/// - nodes that are not resolved yet (parameters, ask, file, augment);
/// - values out of range;
/// - growth beyond the limits;
/// - unknown rules;
/// - a repeat, map or zip that remains because its rule is off.
PlanResult makePlan(const query::Node& query, const PlanOptions& options = {});

/// Appends a problem for each unknown rule, and for options that no rule can follow.
void checkRules(const PlanOptions& options, std::vector<Error>& problems);

/// Applies every enabled rule, bottom up, until no rule matches. Appends the changes to `plan.rules` and the
/// passes to `plan.passes`. If the tree would grow beyond the limits, appends a problem.
void rewrite(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// Rewrites the draft. Also appends a problem for each node that cannot become a step because its rule is
/// off.
void applyRules(Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// Turns a fully rewritten draft into steps, results and printed texts. `plan.rules` does not change. If the
/// prompts would grow beyond the limits, appends a problem. After a problem, do not use the plan.
void lower(const Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems);

/// Returns the seed of one step. The finalizer of SplitMix64 mixes in each of the three numbers. The seed is
/// the same on every machine and in every version. A run can therefore be repeated.
std::uint64_t stepSeed(std::uint64_t planSeed, StepIndex step, std::uint32_t copy);

struct LocalizedQuery {
  std::optional<query::Node> query;  ///< nothing if there are problems
  std::vector<Error> problems;       ///< like the problems of a plan
  /// Maps each place in `query` to its origin in the given query. Several places may have one origin.
  std::map<NodePath, NodePath> origins;
};

/// Writes out attention locality in the query, for servers that do not support attention locality. Also
/// writes out repeats and maps. Everything else stays the same. Absent settings get their defaults.
LocalizedQuery localizedQuery(const query::Node& query, const LocalityOptions& locality);

}  // namespace spanscope::plan
