// SPDX-License-Identifier: GPL-3.0-or-later
// Defines a reuse policy: how far a run departs from a full prefill. A policy with its own code has a folder
// here. The policies that only lay out prompts are in layout_policies.cpp. policies.cpp lists all policies.
// Window, command line, documents and benchmarks use this list. No other code depends on a single policy.
// Open this file before you write a policy.
#pragma once

#include "engine/layout/layout.h"
#include "engine/plan/plan.h"
#include "engine/policy/compute_plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace spanscope::policy {

/// A parameter of a policy: a number, or one of several words. In link(16), 16 is the value of a parameter.
struct Parameter {
  const char* name;   ///< "n": written before the value, unless the parameter is the first of its policy
  const char* label;  ///< for the user: "tokens of each document"
  const char* help;   ///< the effect, in a sentence
  double standard = 0;
  double least = 0;
  double most = 0;
  bool isWhole = false;
  /// Whether the word "all" is a value. The word "all" means that there is no limit. The value is infinity.
  bool hasAll = false;
  /// The words, if the parameter has words instead of numbers. The value is then the index of a word.
  std::span<const char* const> words{};
};

/// Policies are constants with the lifetime of the program. Other code may keep their addresses.
struct Policy {
  const char* name;   ///< "spans": the name in options, documents and traces
  const char* brief;  ///< a description in a few words: "block attention"
  const char* help;   ///< the effect, in a sentence
  /// The name of the original method, written after the words "as in": "EPIC". Empty: unknown.
  const char* asIn = "";
  /// The computations that the policy's result matches, for the user: "block attention ✓ · full prefill ≈".
  /// The text is true on devices whose rows are bit-equal; see exactnessOn().
  const char* exactness;
  /// Whether the children of a plus are independent of each other and of everything before them. If children
  /// are dependent, their order matters, and an answer is never reused without its own prompt.
  bool hasIndependentSpans = false;
  /// Whether the policy needs a checkpoint that was trained for block attention. Other checkpoints run, but
  /// less accurately.
  bool wantsBlockAttention = false;
  /// Whether a recomputed answer of the plan is quoted as generated, as if the plan reused this answer.
  bool quotesAsGenerated = false;
  /// The parameters in written order: link(16), blend(0.15,layer=1).
  std::span<const Parameter> parameters{};
  /// Returns the text of `exactness` for these values. nullptr: the text is the same for all values.
  const char* (*exactnessAt)(std::span<const double> values) = nullptr;
  /// Makes the span table of a step. `outputs[i]` belongs to step i of the plan, `values[i]` to parameter i.
  /// Throws like layoutExact().
  layout::SpanTable (*layOut)(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                              layout::MessageRenderer& renderer, std::span<const double> values);
  /// Makes the compute plan of a table that this policy laid out, now or in a trace. `isInTeam`: the step
  /// generates together with others (`teams`). nullptr: every table has the default plan.
  ComputePlan (*planRows)(const layout::SpanTable& table, std::span<const double> values,
                          bool isInTeam) = nullptr;
  /// Checks whether a model with `layers` layers can run with `values`. Returns the expected values if not.
  /// nullptr: every model can.
  std::optional<std::string> (*expectedOn)(std::span<const double> values, std::int32_t layers) = nullptr;
  /// The teams of a plan. A team is a group of steps that generate together. Each step of a team reads the
  /// tokens of the others. A team has at least two steps. The steps of a team have the order of their places
  /// in the views. A nullptr means that each step generates alone.
  std::vector<std::vector<StepIndex>> (*teams)(const plan::Plan& plan) = nullptr;
};

/// Policy::layOut of policies that use the span table of this visibility without a change.
template <layout::Visibility kVisibility>
layout::SpanTable layOutAs(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                           layout::MessageRenderer& renderer, std::span<const double> /*values*/) {
  return layout::layOut(step, outputs, renderer, kVisibility);
}

}  // namespace spanscope::policy
