// SPDX-License-Identifier: GPL-3.0-or-later
// Defines the plan: a query after rewriting, as generation steps in dependency order, each with its prompt
// tree. Open this file to read or build a plan.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::plan {

/// How the output of a subquery reaches the prompt of the outer query.
enum class OutputForm {
  Continuation,  ///< the output continues its own prompt in the same scope; prompt and answer together are a
                 ///< subquery result
  Recomputed,    ///< an assistant message of its own with recomputed keys and values
  Reused         ///< an assistant message with the keys and values from its own prompt: approximate
};

struct PromptNode;

struct PromptMessage {
  query::Role role = query::Role::User;
  std::string text;
  bool operator==(const PromptMessage&) const = default;
};

/// The tokens that an earlier step generated.
struct PromptOutput {
  StepIndex step = 0;
  OutputForm form = OutputForm::Recomputed;
  bool operator==(const PromptOutput&) const = default;
};

/// The children are laid out in order, in the scope of the run (seq, par, cross).
struct PromptRun {
  std::vector<PromptNode> children;
  bool isCross = false;  ///< some layouts mark the start of the last child of a cross
  bool operator==(const PromptRun&) const;
};

/// Each child opens a scope of its own. Everything after the plus attends to all children.
struct PromptPlus {
  std::vector<PromptNode> children;
  bool operator==(const PromptPlus&) const;
};

struct PromptNode {
  NodePath node;  ///< the query node from which this node comes
  std::variant<PromptMessage, PromptOutput, PromptRun, PromptPlus> value;
  bool operator==(const PromptNode&) const = default;
};

inline bool PromptRun::operator==(const PromptRun& other) const {
  return children == other.children && isCross == other.isCross;
}
inline bool PromptPlus::operator==(const PromptPlus& other) const {
  return children == other.children;
}

/// One generation step. The prompt is complete when every step in `needs` has ended.
struct Step {
  NodePath node;  ///< the generate, repeat or map node of the step
  std::uint32_t copy =
      0;  ///< number of the copy of a repeat or of the input of a map; nested repeats continue the numbering
  std::string model;
  std::optional<std::int32_t> maxTokens;           ///< nothing or ≤ 0: the session's own limit
  float temperature = query::kDefaultTemperature;  ///< 0: greedy
  std::uint64_t seed = 0;                          ///< hash of (plan seed, step, copy)
  PromptNode prompt;                               ///< the whole prompt, without the generation prompt
  std::vector<StepIndex> needs;                    ///< steps whose output is in the prompt, ascending
  std::uint32_t ply = 0;  ///< level: 0 without needed steps, else 1 + the highest level of the needed steps
  bool dropped = false;   ///< true under a monad: the step runs for its side effect
  bool operator==(const Step&) const = default;
};

/// One item of the query's result. The items are, in order, messages of the query and outputs of its
/// outermost steps.
struct ResultItem {
  NodePath node;
  std::variant<PromptMessage, StepIndex> value;
  bool operator==(const ResultItem&) const = default;
};

/// One application of a rewrite rule; `explain` shows it.
struct RuleReport {
  std::string rule;    ///< e.g. "flatten"
  NodePath node;       ///< the place of the match in the given query
  std::string before;  ///< the subtree before, in short form
  std::string after;   ///< the subtree after, in short form
  std::string reason;  ///< one sentence: the benefit of the change
  bool operator==(const RuleReport&) const = default;
};

/// One line of a tree. The lines go from the top of the tree down.
struct TreeLine {
  std::uint32_t depth = 0;
  NodePath node;         ///< the origin of the node in the given query
  std::string label;     ///< e.g. `user "Which one?"`
  bool changed = false;  ///< whether a pass changed something here
  bool operator==(const TreeLine&) const = default;
};

/// One pass of a rule over the whole tree. The rule matched at least once.
struct PassReport {
  std::string rule;
  std::string reason;
  bool keepsMeaning = true;      ///< whether every prompt reads the same before and after
  std::uint32_t applied = 0;     ///< number of matches of the rule; each copy of a node counts
  std::size_t firstChange = 0;   ///< index of the first change of this pass in Plan::rules
  std::size_t changeCount = 0;   ///< number of changes of this pass; all copies of a node count once
  std::vector<TreeLine> before;  ///< the tree; empty unless PlanOptions::recordTrees is set
  std::vector<TreeLine> after;
  bool operator==(const PassReport&) const = default;
};

struct Plan {
  std::vector<Step> steps;  ///< in dependency order: a step comes after every step that it needs
  std::vector<ResultItem> result;
  std::vector<std::string> printed;  ///< texts of print nodes, in order
  std::vector<RuleReport> rules;     ///< every change, in order
  std::vector<PassReport> passes;    ///< the passes that made the changes, in order
  bool operator==(const Plan&) const = default;
};

}  // namespace spanscope::plan
