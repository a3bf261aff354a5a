// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/cost.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace spanscope::plan {
namespace {

/// The most tokens that the reply of a step may have; nothing: as many as the session allows.
std::optional<std::uint64_t> limitOf(const Step& step) {
  if (step.maxTokens.value_or(0) <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(*step.maxTokens);
}

class PromptMeter {
 public:
  PromptMeter(const Plan& plan, const TextMeasure& measure) : m_plan(&plan), m_measure(&measure) {}

  PromptLength lengthOf(const PromptNode& node) const {
    PromptLength length;
    add(node, length);
    return length;
  }

 private:
  /// Copies of a generate contain the same texts, and counting tokens needs their encoding.
  std::uint64_t countOf(std::string_view text) const {
    const auto [entry, isNew] = m_counts.try_emplace(text);
    if (isNew) entry->second = m_measure->count(text);
    return entry->second;
  }

  void add(const PromptNode& node, PromptLength& length) const {
    if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
      length.text += countOf(message->text);
    } else if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
      if (const std::optional<std::uint64_t> limit = limitOf(m_plan->steps[output->step])) {
        length.replyTokens += *limit;
      } else {
        ++length.openReplies;
      }
    } else if (const auto* run = std::get_if<PromptRun>(&node.value)) {
      for (const PromptNode& child : run->children) add(child, length);
    } else {
      for (const PromptNode& child : std::get<PromptPlus>(node.value).children) add(child, length);
    }
  }

  const Plan* m_plan;
  const TextMeasure* m_measure;
  mutable std::unordered_map<std::string_view, std::uint64_t> m_counts;  ///< by text of the plan
};

bool isShorter(const PromptLength& a, const PromptLength& b) {
  return std::tuple(a.openReplies, a.text + a.replyTokens) <
         std::tuple(b.openReplies, b.text + b.replyTokens);
}

}  // namespace

TextMeasure TextMeasure::characters() {
  return {[](std::string_view text) {
            return static_cast<std::uint64_t>(std::count_if(text.begin(), text.end(), [](char c) {
              return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
            }));
          },
          "character"};
}

PlanCost costOf(const Plan& plan, const TextMeasure& measure) {
  const PromptMeter meter(plan, measure);
  PlanCost cost;
  cost.generates = plan.steps.size();
  for (const Step& step : plan.steps) {
    const PromptLength length = meter.lengthOf(step.prompt);
    cost.prompts.text += length.text;
    cost.prompts.replyTokens += length.replyTokens;
    cost.prompts.openReplies += length.openReplies;
    if (isShorter(cost.longest, length)) cost.longest = length;
    if (const std::optional<std::uint64_t> limit = limitOf(step)) {
      cost.newTokens += *limit;
    } else {
      ++cost.openGenerates;
    }
  }
  return cost;
}

}  // namespace spanscope::plan
