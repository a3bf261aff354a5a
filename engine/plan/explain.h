// SPDX-License-Identifier: GPL-3.0-or-later
// Explains a plan like a database's EXPLAIN, and computes the cost of the plan before the run. Open this file
// to change what users read about a plan.
#pragma once

#include "engine/plan/plan.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace spanscope::plan {

// The cost of a plan before the run: the number of generation steps and the lengths of their prompts.

/// The unit for lengths of text: the tokens of a model, or characters if there is no tokenizer.
struct TextMeasure {
  std::function<std::uint64_t(std::string_view)> count;
  std::string unit;  ///< name of the unit: a noun whose plural adds an s, "token"

  /// Counts code points of UTF-8.
  static TextMeasure characters();
};

/// The length of one prompt, or of several together. An answer does not exist yet. An answer counts as its
/// max number of tokens.
struct PromptLength {
  std::uint64_t text = 0;  ///< messages, in the unit of the measure; without the text that the chat template
                           ///< adds
  std::uint64_t answerTokens = 0;  ///< answers with a token limit: the sum of the limits
  std::uint32_t openAnswers = 0;   ///< number of answers without a limit
  bool operator==(const PromptLength&) const = default;
};

struct PlanCost {
  std::uint64_t generates = 0;
  PromptLength prompts;  ///< all steps together; a shared section counts each time that it is read
  PromptLength longest;  ///< the longest prompt of a step: compared by open answers first, then by text and
                         ///< answer tokens
  std::uint64_t newTokens = 0;      ///< the sum of the token limits of all steps that have one
  std::uint32_t openGenerates = 0;  ///< number of steps without a limit
  bool operator==(const PlanCost&) const = default;
};

PlanCost costOf(const Plan& plan, const TextMeasure& measure);

struct ExplainOptions {
  /// A plan of the same query without attention locality. The text then compares the costs of both plans. Not
  /// owned. nullptr: no comparison.
  const Plan* withoutLocality = nullptr;
  TextMeasure measure = TextMeasure::characters();
  bool eachTree = false;  ///< the whole tree before and after every pass; otherwise only before the first and
                          ///< after the last pass
};

/// Explains the plan to the user. Each line ends with a newline. The text has these sections:
/// - the passes in order, each with its rule, number of applications, reason and changes;
/// - the tree before and after, if the plan recorded it;
/// - the cost of the plan;
/// - the steps by level, with their settings and prompts;
/// - the result of the query.
std::string explain(const Plan& plan, const ExplainOptions& options);
/// Explains the plan without trees and cost. Traces contain this explanation.
std::string explain(const Plan& plan);

/// Returns the explanation as a JSON object, on indented lines. The text ends with a newline.
std::string explainJson(const Plan& plan, const ExplainOptions& options = {});

/// Returns the steps and their prompts as a Graphviz digraph.
std::string explainGraph(const Plan& plan);

}  // namespace spanscope::plan
