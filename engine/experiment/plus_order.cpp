// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/plus_order.h"

#include "engine/query/node_parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>
#include <vector>

namespace spanscope::experiment {
namespace {

std::size_t widestIn(const plan::PromptNode& node);

std::size_t widestOf(const std::vector<plan::PromptNode>& children) {
  std::size_t widest = 0;
  for (const plan::PromptNode& child : children) widest = std::max(widest, widestIn(child));
  return widest;
}

std::size_t widestIn(const plan::PromptNode& node) {
  if (const auto* run = std::get_if<plan::PromptRun>(&node.value)) return widestOf(run->children);
  if (const auto* plus = std::get_if<plan::PromptPlus>(&node.value))
    return std::max(plus->children.size(), widestOf(plus->children));
  return 0;
}

void reverseIn(plan::PromptNode& node) {
  std::vector<plan::PromptNode>* children = nullptr;
  if (auto* run = std::get_if<plan::PromptRun>(&node.value)) children = &run->children;
  if (auto* plus = std::get_if<plan::PromptPlus>(&node.value)) {
    children = &plus->children;
    std::reverse(children->begin(), children->end());
  }
  if (children == nullptr) return;
  for (plan::PromptNode& child : *children) reverseIn(child);
}

/// Removes the plus nodes from the node. Returns false if nothing is left of the node.
bool takeOut(query::Node& node) {
  if (auto* join = node.as<query::Join>()) {
    if (join->kind == query::JoinKind::Plus) return false;
    if (join->children.empty()) return true;
    std::erase_if(join->children, [](query::Node& child) { return !takeOut(child); });
    return !join->children.empty();
  }
  bool isWhole = true;
  query::forEachChild(
      node, [&isWhole](query::Node& child, const std::string&) { isWhole = takeOut(child) && isWhole; });
  return isWhole;
}

}  // namespace

std::size_t widestPlus(const plan::Plan& plan) {
  std::size_t widest = 0;
  for (const plan::Step& step : plan.steps) widest = std::max(widest, widestIn(step.prompt));
  return widest;
}

plan::Plan withReversedPluses(plan::Plan plan) {
  for (plan::Step& step : plan.steps) reverseIn(step.prompt);
  return plan;
}

std::optional<query::Node> withoutPluses(query::Node query) {
  if (!takeOut(query)) return std::nullopt;
  return query;
}

}  // namespace spanscope::experiment
