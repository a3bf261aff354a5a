// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which children of a list node share one card (a stack) if there is no room for all children. Texts
// then stay large enough to read. The result depends only on the document, the room and the nodes that need
// separate cards.
#pragma once

#include "engine/workbench/document/document.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace spanscope::ui {

/// Consecutive children with the same kind of operator that share one card with all nodes below.
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
  /// Returns all stacks by their first member. This member represents the stack in the layout.
  const std::map<document::NodeId, Stack>& all() const { return m_stacks; }
  /// Returns the stack whose first member is this node. nullptr: there is none.
  const Stack* at(document::NodeId first) const;
  /// Returns the stack that has this node as a member. nullptr: there is none.
  const Stack* of(document::NodeId member) const;
  bool operator==(const Stacks&) const = default;

 private:
  std::map<document::NodeId, Stack> m_stacks;
  std::map<document::NodeId, document::NodeId> m_firstOf;
};

struct StackChoices {
  /// The max height of each tree in scene pixels. 0: no limit, nothing is stacked.
  double height = 0;
  /// If every tree fits into this height, nothing is stacked. `height` does not count in this case.
  double whole = 0;
  /// Nodes that get separate cards. If there is room, other members of their stacks get separate cards, too.
  std::set<document::NodeId> shown;
  /// List nodes whose children are all drawn one by one.
  std::set<document::NodeId> opened;
  bool operator==(const StackChoices&) const = default;
};

/// Returns the max number of separate cards per list node that keeps every tree within the height. Returns 0
/// if no number is small enough.
std::size_t stackLimit(const document::Document& document, const StackChoices& choices);
/// Returns the stacks that result if each list node draws `limit` of its children as separate cards. The
/// children in `wishes.shown` come first, then the children at the beginning. A child with an explicit
/// position is never in a stack.
Stacks stacksOf(const document::Document& document, const StackChoices& choices, std::size_t limit);

}  // namespace spanscope::ui
