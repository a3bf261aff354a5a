// SPDX-License-Identifier: GPL-3.0-or-later
// Which children of a list node are drawn as one card where there is no room for all of them: what a person
// reads stays large enough to read. A pure function of the document, the room and what is wanted on its own.
#pragma once

#include "engine/workbench/document/document.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace spanscope::ui {

/// Consecutive children of one operator that are drawn as one card, with everything under them.
struct Stack {
  document::NodeId parent = document::kNoNode;
  std::size_t first = 0;                  ///< place of the first one among the parent's children
  std::vector<document::NodeId> members;  ///< in prompt order, two or more
  bool operator==(const Stack&) const = default;
};

class Stacks {
 public:
  void add(Stack stack);
  bool empty() const { return m_stacks.empty(); }
  /// By the first member, which stands for the stack in the layout.
  const std::map<document::NodeId, Stack>& all() const { return m_stacks; }
  /// The stack that this node stands for; nullptr: none.
  const Stack* at(document::NodeId first) const;
  /// The stack that the node itself is a member of; nullptr: none.
  const Stack* of(document::NodeId member) const;
  bool operator==(const Stacks&) const = default;

 private:
  std::map<document::NodeId, Stack> m_stacks;
  std::map<document::NodeId, document::NodeId> m_firstOf;
};

struct StackWishes {
  /// Height in scene pixels that each tree should keep to. 0: as high as it likes, nothing is stacked.
  double height = 0;
  /// Nodes that are drawn on their own, with those around them in their stack if there is room.
  std::set<document::NodeId> shown;
  /// List nodes of which all children are drawn.
  std::set<document::NodeId> opened;
  bool operator==(const StackWishes&) const = default;
};

/// How many children of each list node may be drawn on their own so that the trees keep to the height; the
/// largest such number, 0 where none is small enough.
std::size_t stackLimit(const document::Document& document, const StackWishes& wishes);
/// The stacks where each list node draws so many of its children on their own: the wanted ones, then the
/// first ones. A child with a position of its own is never in a stack.
Stacks stacksOf(const document::Document& document, const StackWishes& wishes, std::size_t limit);

}  // namespace spanscope::ui
