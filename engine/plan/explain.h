// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/plan.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace spanscope::plan {

// The cost of a plan before anything runs: the number of generates and the lengths of their prompts.

/// The unit for lengths of text: the tokens of a model, or characters if there is no tokenizer.
struct TextMeasure {
  std::function<std::uint64_t(std::string_view)> count;
  std::string unit;  ///< name of the unit: a noun whose plural adds an s, "token"

  /// Counts code points of UTF-8.
  static TextMeasure characters();
};

/// The length of one prompt, or of several together. Replies are not known yet: each counts as the largest
/// number of tokens that it may have.
struct PromptLength {
  std::uint64_t text = 0;         ///< messages, in the unit of the measure; without what the chat template
                                  ///< adds
  std::uint64_t replyTokens = 0;  ///< replies with a limit on their tokens: the sum of the limits
  std::uint32_t openReplies = 0;  ///< number of replies without a limit
  bool operator==(const PromptLength&) const = default;
};

struct PlanCost {
  std::uint64_t generates = 0;
  PromptLength prompts;  ///< all generates together; a shared part counts each time that it is read
  PromptLength longest;  ///< the longest prompt of a generate: the most open replies, then the most text and
                         ///< reply tokens
  std::uint64_t newTokens = 0;      ///< most tokens of all generates that have a limit
  std::uint32_t openGenerates = 0;  ///< number of generates without a limit
  bool operator==(const PlanCost&) const = default;
};

PlanCost costOf(const Plan& plan, const TextMeasure& measure);

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
