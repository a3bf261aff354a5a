// SPDX-License-Identifier: GPL-3.0-or-later
// A reuse policy says how far a run departs from a full prefill. Each policy has a folder of its own here and
// a line in policies.cpp. Window, command line, documents and benchmarks read that list and ask each policy
// what they want to know of it. So nothing else depends on which policies there are.
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

/// A parameter of a policy: a number, or one of several words. The 16 of link(16) is the value of one.
struct Parameter {
  const char* name;   ///< "n": written before the value, unless the parameter is the first of its policy
  const char* label;  ///< as a person reads it: "tokens of each document"
  const char* help;   ///< what it does, in a sentence
  double standard = 0;
  double least = 0;
  double most = 0;
  bool isWhole = false;
  /// Whether the word "all" is a value. It means as much as there is; the value is infinity.
  bool hasAll = false;
  /// The words, if the parameter has words instead of numbers. The value is then the index of a word.
  std::span<const char* const> words{};
};

/// Policies are constants that live as long as the program, so others may keep their addresses.
struct Policy {
  const char* name;   ///< "spans": what options, documents and traces call it
  const char* brief;  ///< what it is, in a few words: "block attention"
  const char* help;   ///< what it does, in a sentence
  /// Who does it so: "EPIC", behind the words "as in"; empty: nobody who is known.
  const char* asIn;
  /// What its result is exact against, as a person reads it: "block attention ✓ · full prefill ≈". It holds
  /// on devices whose rows are bit-equal: see exactnessOn().
  const char* exactness;
  /// Whether the children of a plus are independent of each other and of what stands before them. If they are
  /// not, their order counts, and a reply is never reused apart from its own prompt.
  bool hasIndependentSpans;
  /// Whether it asks for a checkpoint trained for block attention. Others run, but less accurately.
  bool wantsBlockAttention;
  /// Whether a reply that the plan has computed anew is quoted as it was generated, as if the plan reused it.
  bool quotesAsGenerated = false;
  /// In the order in which they are written: link(16), blend(0.15,layer=1).
  std::span<const Parameter> parameters{};
  /// What the result is exact against if some values make it more exact, as above; nullptr if they do not.
  const char* (*exactnessAt)(std::span<const double> values) = nullptr;
  /// Makes the span table of a step. `outputs[i]` belongs to step i of the plan, `values[i]` to parameter i.
  /// Throws as layoutExact() does.
  layout::SpanTable (*layOut)(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                              layout::MessageRenderer& renderer, std::span<const double> values);
  /// Makes the row plan of a table that this policy laid out, or that it laid out according to a trace.
  /// `isInTeam`: the step generates in step with others (`teams`). nullptr: every table has the default plan.
  RowPlan (*planRows)(const layout::SpanTable& table, std::span<const double> values,
                      bool isInTeam) = nullptr;
  /// What would be expected of the values if a model with so many layers cannot run with them; nothing if it
  /// can. nullptr: every model can.
  std::optional<std::string> (*expectedOn)(std::span<const double> values, std::int32_t layers) = nullptr;
  /// The teams of a plan: steps that generate together, each reading what the others write. A team has at
  /// least two steps, in the order in which they stand in each other's views. nullptr: all steps generate
  /// apart.
  std::vector<std::vector<StepIndex>> (*teams)(const plan::Plan& plan) = nullptr;
};

}  // namespace spanscope::policy
