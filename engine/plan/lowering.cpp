// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/plan/lowering.h"

#include "engine/plan/seed.h"

#include <algorithm>
#include <map>
#include <set>

namespace spanscope::plan {
namespace {

bool isEmptyPrompt(const PromptNode& node) {
  const auto* run = std::get_if<PromptRun>(&node.value);
  return run != nullptr && run->children.empty();
}

void collectNeeds(const PromptNode& node, std::set<StepIndex>& needs) {
  if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
    needs.insert(output->step);
  } else if (const auto* run = std::get_if<PromptRun>(&node.value)) {
    for (const PromptNode& child : run->children) collectNeeds(child, needs);
  } else if (const auto* plus = std::get_if<PromptPlus>(&node.value)) {
    for (const PromptNode& child : plus->children) collectNeeds(child, needs);
  }
}

class Lowering {
 public:
  Lowering(const PlanOptions& options, Plan& plan, std::vector<Error>& problems)
      : m_options(&options), m_plan(&plan), m_problems(&problems) {}

  void lowerResult(const Draft& draft) {
    if (draft.is<query::Message>()) {
      if (!draft.text.empty()) m_plan->result.push_back({draft.node, PromptMessage{draft.role, draft.text}});
    } else if (draft.is<query::Join>()) {
      for (const Draft& child : draft.children) lowerResult(child);
    } else if (draft.is<query::Generate>()) {
      m_plan->result.push_back({draft.node, stepFor(draft, false)});
    } else {
      runForEffect(draft);
    }
  }

 private:
  /// A draft that gives no tokens may still print texts or run steps.
  void runForEffect(const Draft& draft) {
    if (draft.is<query::Print>()) {
      if (m_printed.insert(draft.node).second) m_plan->printed.push_back(draft.text);
    } else if (draft.is<query::Generate>()) {
      stepFor(draft, true);
    } else {
      for (const Draft& child : draft.children) runForEffect(child);
    }
  }

  /// The prompt node for a draft; an empty run if the draft gives no tokens.
  PromptNode lowerPrompt(const Draft& draft, bool dropped) {
    PromptNode nothing{draft.node, PromptRun{}};
    if (draft.is<query::Message>()) {
      if (isSilent(draft)) return nothing;
      count(1, draft.text.size());
      return {draft.node, PromptMessage{draft.role, draft.text}};
    }
    if (draft.is<query::Join>()) {
      std::vector<PromptNode> children;
      for (const Draft& child : draft.children) {
        PromptNode node = lowerPrompt(child, dropped);
        if (!isEmptyPrompt(node)) children.push_back(std::move(node));
      }
      if (children.empty()) return nothing;
      count(1, 0);
      if (draft.join == query::JoinKind::Plus) return {draft.node, PromptPlus{std::move(children)}};
      const bool isCross = draft.join == query::JoinKind::Cross;
      if (children.size() == 1 && !isCross) return std::move(children.front());
      return {draft.node, PromptRun{.children = std::move(children), .isCross = isCross}};
    }
    if (!draft.is<query::Generate>()) {
      runForEffect(draft);
      return nothing;
    }
    const StepIndex step = stepFor(draft, dropped);
    count(1, 0);
    if (m_exceeded || draft.form != OutputForm::Continuation) {
      return {draft.node, PromptOutput{step, formOf(draft)}};
    }
    const PromptNode& inner = m_plan->steps[step].prompt;
    countAll(inner);
    PromptRun closure;
    if (!m_exceeded && !isEmptyPrompt(inner)) closure.children.push_back(inner);
    closure.children.push_back({draft.node, PromptOutput{step, OutputForm::Continuation}});
    return {draft.node, std::move(closure)};
  }

  static OutputForm formOf(const Draft& draft) {
    return draft.form == OutputForm::Reused ? OutputForm::Reused : OutputForm::Anew;
  }

  /// The step of a generate. It is made at its first occurrence, after the steps that it needs.
  StepIndex stepFor(const Draft& draft, bool dropped) {
    if (const auto known = m_stepOfCall.find(draft.call); known != m_stepOfCall.end()) return known->second;
    Step step;
    step.node = draft.node;
    step.model = draft.settings.model;
    step.maxTokens = draft.settings.maxTokens;
    step.temperature = draft.settings.temperature;
    step.dropped = dropped;
    step.prompt = lowerPrompt(draft.input(), dropped);
    std::set<StepIndex> needs;
    collectNeeds(step.prompt, needs);
    step.needs.assign(needs.begin(), needs.end());
    for (const StepIndex need : step.needs) step.ply = std::max(step.ply, m_plan->steps[need].ply + 1);
    step.copy = m_copies[draft.node]++;
    const auto index = static_cast<StepIndex>(m_plan->steps.size());
    step.seed = stepSeed(m_options->seed, index, step.copy);
    m_plan->steps.push_back(std::move(step));
    m_stepOfCall.emplace(draft.call, index);
    return index;
  }

  void count(std::size_t nodes, std::size_t textBytes) {
    m_nodes += nodes;
    m_textBytes += textBytes;
    if (m_exceeded || (m_nodes <= m_options->limits.nodes && m_textBytes <= m_options->limits.textBytes))
      return;
    m_exceeded = true;
    m_problems->push_back({"", "", "prompts that become too large when closures are written out",
                           "at most " + std::to_string(m_options->limits.nodes) + " nodes and " +
                               std::to_string(m_options->limits.textBytes) +
                               " bytes of text in all prompts"});
  }

  void countAll(const PromptNode& node) {
    if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
      count(1, message->text.size());
      return;
    }
    count(1, 0);
    if (const auto* run = std::get_if<PromptRun>(&node.value)) {
      for (const PromptNode& child : run->children) countAll(child);
    } else if (const auto* plus = std::get_if<PromptPlus>(&node.value)) {
      for (const PromptNode& child : plus->children) countAll(child);
    }
  }

  const PlanOptions* m_options;
  Plan* m_plan;
  std::vector<Error>* m_problems;
  std::map<std::uint32_t, StepIndex> m_stepOfCall;
  std::map<NodePath, std::uint32_t> m_copies;
  std::set<NodePath> m_printed;
  std::size_t m_nodes = 0;
  std::size_t m_textBytes = 0;
  bool m_exceeded = false;
};

}  // namespace

void lower(const Draft& draft, const PlanOptions& options, Plan& plan, std::vector<Error>& problems) {
  Lowering(options, plan, problems).lowerResult(draft);
}

}  // namespace spanscope::plan
