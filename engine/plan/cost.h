// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan costs before anything runs: how many generates, how much text in how long prompts.
#pragma once

#include "engine/plan/plan.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace spanscope::plan {

/// How text is measured: in the tokens of some model, or in characters where there is no tokenizer.
struct TextMeasure {
  std::function<std::uint64_t(std::string_view)> count;
  std::string unit;  ///< one of them, a noun that takes an s for more: "token"

  /// Code points of UTF-8.
  static TextMeasure characters();
};

/// The length of a prompt, or of several. Replies are not known yet: each counts as many tokens as it may
/// have at most.
struct PromptLength {
  std::uint64_t text = 0;         ///< messages, in the unit of the measure; without what the template adds
  std::uint64_t replyTokens = 0;  ///< replies with a limit, in tokens
  std::uint32_t openReplies = 0;  ///< replies without one
  bool operator==(const PromptLength&) const = default;
};

struct PlanCost {
  std::uint64_t generates = 0;
  PromptLength prompts;  ///< of all generates together, shared parts counted each time they are read
  PromptLength longest;  ///< of one generate: the most open replies, then the most text and reply tokens
  std::uint64_t newTokens = 0;      ///< that may be generated, where there is a limit
  std::uint32_t openGenerates = 0;  ///< generates without one
  bool operator==(const PlanCost&) const = default;
};

PlanCost costOf(const Plan& plan, const TextMeasure& measure);

}  // namespace spanscope::plan
