// SPDX-License-Identifier: GPL-3.0-or-later
// A reuse policy: how far a run departs from a full prefill. Each has a folder of its own here and a line in
// policies.cpp; window, command line, documents and benchmarks enumerate that list and ask a policy what they
// want to know of it, so that nothing else depends on which policies there are.
#pragma once

#include "engine/layout/layout.h"
#include "engine/plan/plan.h"

#include <span>

namespace spanscope::policy {

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
  /// The span table of a step; `outputs[i]` belongs to step i of the plan. Throws as layoutExact().
  layout::SpanTable (*layOut)(const plan::Step& step, std::span<const layout::StepOutput> outputs,
                              layout::MessageRenderer& renderer);
};

}  // namespace spanscope::policy
