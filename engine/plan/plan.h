// SPDX-License-Identifier: GPL-3.0-or-later
// The plan: a query after rewriting, as generate steps in dependency order, each with its prompt tree.
#pragma once

#include "engine/base/ids.h"
#include "engine/query/query.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::plan {

/// How the output of an inner step reaches the prompt of an outer one.
enum class OutputForm {
  Continuation,  ///< it continues the prompt that stands right before it in the same scope: the closure
  Anew,          ///< an assistant message of its own, its keys and values computed anew
  Reused         ///< an assistant message with the keys and values it had under its own prompt: approximate
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
  OutputForm form = OutputForm::Anew;
  bool operator==(const PromptOutput&) const = default;
};

/// Children laid out in the scope they stand in, in order (seq, par, cross).
struct PromptRun {
  std::vector<PromptNode> children;
  bool isCross = false;  ///< some layouts mark where the last child of a cross begins
  bool operator==(const PromptRun&) const;
};

/// Each child opens a scope of its own; what follows sees all of them (plus).
struct PromptPlus {
  std::vector<PromptNode> children;
  bool operator==(const PromptPlus&) const;
};

struct PromptNode {
  NodePath node;  ///< the query node it came from
  std::variant<PromptMessage, PromptOutput, PromptRun, PromptPlus> value;
  bool operator==(const PromptNode&) const = default;
};

inline bool PromptRun::operator==(const PromptRun& other) const {
  return children == other.children && isCross == other.isCross;
}
inline bool PromptPlus::operator==(const PromptPlus& other) const {
  return children == other.children;
}

/// One generate: a prompt to be completed once everything in `needs` has ended.
struct Step {
  NodePath node;           ///< the generate, repeat or map it came from
  std::uint32_t copy = 0;  ///< which of a repeat's copies or a map's inputs; counts on where repeats nest
  std::string model;
  std::optional<std::int32_t> maxTokens;           ///< none, or ≤ 0: up to the session's own limit
  float temperature = query::kDefaultTemperature;  ///< 0: greedy
  std::uint64_t seed = 0;                          ///< hash of (plan seed, step, copy)
  PromptNode prompt;                               ///< the whole prompt, without the generation prompt
  std::vector<StepIndex> needs;                    ///< steps whose output the prompt holds, ascending
  std::uint32_t ply = 0;  ///< 0 where it needs nothing, else 1 + the highest ply it needs
  bool dropped = false;   ///< under a monad: run for its side effect
  bool operator==(const Step&) const = default;
};

/// What evaluating the query yields, in order: messages of the query itself and outputs of its outermost
/// steps.
struct ResultItem {
  NodePath node;
  std::variant<PromptMessage, StepIndex> value;
  bool operator==(const ResultItem&) const = default;
};

/// One application of a rewrite rule, for `explain`.
struct RuleReport {
  std::string rule;    ///< e.g. "flatten"
  NodePath node;       ///< where it matched, in the query as given
  std::string before;  ///< the subtree before, in short form
  std::string after;   ///< and after
  std::string reason;  ///< one sentence: why this is worth doing
  bool operator==(const RuleReport&) const = default;
};

/// One line of a tree that is written from the top down.
struct TreeLine {
  std::uint32_t depth = 0;
  NodePath node;         ///< where it came from in the query as given
  std::string label;     ///< e.g. `user "Which one?"`
  bool changed = false;  ///< a pass changed something here
  bool operator==(const TreeLine&) const = default;
};

/// One pass of one rule over the whole tree, in which it matched somewhere.
struct PassReport {
  std::string rule;
  std::string reason;
  bool keepsMeaning = true;      ///< every prompt reads the same before and after
  std::uint32_t applied = 0;     ///< how often it matched, each copy of a node counted
  std::size_t firstChange = 0;   ///< its changes in Plan::rules, from here
  std::size_t changeCount = 0;   ///< so many, the copies of one node counted once
  std::vector<TreeLine> before;  ///< the tree, where it was asked for
  std::vector<TreeLine> after;
  bool operator==(const PassReport&) const = default;
};

struct Plan {
  std::vector<Step> steps;  ///< in dependency order: a step stands after everything it needs
  std::vector<ResultItem> result;
  std::vector<std::string> printed;  ///< texts of print nodes, in order
  std::vector<RuleReport> rules;     ///< every change, in order
  std::vector<PassReport> passes;    ///< the passes that made them, in order
  bool operator==(const Plan&) const = default;
};

}  // namespace spanscope::plan
