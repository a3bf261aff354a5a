// SPDX-License-Identifier: GPL-3.0-or-later
// A reuse policy: how far a run departs from a full prefill. Each has a folder of its own here and a line in
// policies.cpp; window, command line, documents and benchmarks enumerate that list and ask a policy what they
// want to know of it, so that nothing else depends on which policies there are.
#pragma once

#include "engine/layout/layout.h"
#include "engine/plan/plan.h"
#include "engine/policy/row_plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::policy {

/// A number, or one of some words, that goes with a policy: the 16 of link(16).
struct Parameter {
  const char* name;   ///< "n": before the value where it is not the first of the policy
  const char* label;  ///< as a person reads it: "tokens of each document"
  const char* help;   ///< what it does, in a sentence
  double standard = 0;
  double least = 0;
  double most = 0;
  bool isWhole = false;
  /// Whether the word "all" stands for as much as there is: infinity.
  bool hasAll = false;
  /// Words instead of numbers: the value is the index of one.
  std::span<const char* const> words{};
};

/// Constants with the life of the program: what refers to one may keep its address.
struct Policy {
  const char* name;   ///< "spans": what options, documents and traces call it
  const char* brief;  ///< what it is, in a few words: "block attention"
  const char* help;   ///< what it does, in a sentence
  /// What its result is exact against, as a person reads it: "block attention ✓ · full prefill ≈". Where rows
  /// are bit-equal: see exactnessOn().
  const char* exactness;
  /// Whether the children of a plus are independent of each other and of what stands before them. Where they
  /// are not, their order counts, and a reply is never reused apart from its own prompt.
  bool hasIndependentSpans;
  /// Whether it asks for a checkpoint that was trained for block attention: others run, less accurately.
  bool wantsBlockAttention;
  /// Whether a reply that the plan has computed anew is quoted as it was generated, as if the plan had it
  /// reused.
  bool quotesAsGenerated = false;
  /// In the order in which they are written: link(16), blend(0.15,layer=1).
  std::span<const Parameter> parameters{};
  /// Where some values make it more exact: what it is then, as above; nullptr where they do not.
  const char* (*exactnessAt)(std::span<const double> values) = nullptr;
  /// The span table of a step; `outputs[i]` belongs to step i of the plan, `values` to the parameters. Throws
  /// as layoutExact().
  layout::SpanTable (*layOut)(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                              layout::MessageRenderer& renderer, std::span<const double> values);
  /// The row plan of a table that this policy laid out, or that a trace tells it to have laid out.
  /// `isInTeam`: the step generates in step with others (`teams`). nullptr: the default plan.
  RowPlan (*planRows)(const layout::SpanTable& table, std::span<const double> values,
                      bool isInTeam) = nullptr;
  /// What would be expected of the values where a model of so many layers cannot run with them; nothing where
  /// it can. nullptr: any model can.
  std::optional<std::string> (*expectedOn)(std::span<const double> values, std::int32_t layers) = nullptr;
  /// Steps of a plan that generate together, each reading what the others write: teams of at least two, each
  /// in the order in which its members stand in each other's views. nullptr: all generate apart.
  std::vector<std::vector<StepIndex>> (*teams)(const plan::Plan& plan) = nullptr;
};

}  // namespace spanscope::policy
