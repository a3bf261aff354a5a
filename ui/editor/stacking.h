// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which children of a list node are drawn together as one card, a stack, if there is no room for all
// of them. So texts stay large enough to read. The result depends only on the document, the room and the
// nodes that are wanted as separate cards.
#pragma once

#include "engine/workbench/document/document.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace spanscope::ui {

/// Consecutive children with the same operator that are drawn as one card, together with everything below
/// them.
struct Stack {
  document::NodeId parent = document::kNoNode;
  std::size_t first = 0;                  ///< index of the first member among the parent's children
  std::vector<document::NodeId> members;  ///< in prompt order, two or more
  bool operator==(const Stack&) const = default;
};

class Stacks {
 public:
  void add(Stack stack);
  bool empty() const { return m_stacks.empty(); }
  /// All stacks by their first member, which stands for the stack in the layout.
  const std::map<document::NodeId, Stack>& all() const { return m_stacks; }
  /// The stack whose first member is this node; nullptr: none.
  const Stack* at(document::NodeId first) const;
  /// The stack of which this node is a member; nullptr: none.
  const Stack* of(document::NodeId member) const;
  bool operator==(const Stacks&) const = default;

 private:
  std::map<document::NodeId, Stack> m_stacks;
  std::map<document::NodeId, document::NodeId> m_firstOf;
};

struct StackChoices {
  /// The height in scene pixels that no tree should exceed. 0: no limit, nothing is stacked.
  double height = 0;
  /// The height within which a tree is drawn whole. Such trees have no stacks, although they exceed `height`.
  double whole = 0;
  /// Nodes that get a card of their own. If there is room, so do other members of their stack.
  std::set<document::NodeId> shown;
  /// List nodes whose children are all drawn one by one.
  std::set<document::NodeId> opened;
  bool operator==(const StackChoices&) const = default;
};

/// The largest number of children of each list node that may have cards of their own, so that no tree exceeds
/// the height; 0 if no number is small enough.
std::size_t stackLimit(const document::Document& document, const StackChoices& choices);
/// The stacks that result if each list node draws `limit` of its children as separate cards: first the wanted
/// ones, then those at the beginning. A child with an explicit position is never in a stack.
Stacks stacksOf(const document::Document& document, const StackChoices& choices, std::size_t limit);

}  // namespace spanscope::ui
