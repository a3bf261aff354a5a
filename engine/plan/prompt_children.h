// SPDX-License-Identifier: GPL-3.0-or-later
// Walks through a prompt tree. Open this file before you write a case for each kind of inner node.
#pragma once

#include "engine/plan/plan.h"

#include <span>
#include <variant>

namespace spanscope::plan {

/// Whether a node is a message or an output.
inline bool isLeaf(const PromptNode& node) {
  return std::holds_alternative<PromptMessage>(node.value) ||
         std::holds_alternative<PromptOutput>(node.value);
}

/// Returns the children of a run or a plus; empty: a leaf.
inline std::span<PromptNode> childrenOf(PromptNode& node) {
  if (auto* run = std::get_if<PromptRun>(&node.value)) return run->children;
  if (auto* plus = std::get_if<PromptPlus>(&node.value)) return plus->children;
  return {};
}
inline std::span<const PromptNode> childrenOf(const PromptNode& node) {
  if (const auto* run = std::get_if<PromptRun>(&node.value)) return run->children;
  if (const auto* plus = std::get_if<PromptPlus>(&node.value)) return plus->children;
  return {};
}

}  // namespace spanscope::plan
