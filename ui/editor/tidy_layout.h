// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the places of the drawn nodes of a document. Leaves are in a column at the left, in prompt order
// from top to bottom. The root is at the right. The layout is a pure function of the document and its
// stacks.
#pragma once

#include "engine/workbench/document/document.h"

#include <cstddef>
#include <map>
#include <set>
#include <vector>

namespace spanscope::ui {

// Decides which children of a list node share one card (a stack) if there is no room for all children. Texts
// then stay large enough to read. The result depends only on the document, the room and the nodes that need
// separate cards.

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

inline constexpr double kCardWidth = 240;
inline constexpr double kPillWidth = 92;
inline constexpr double kLineCardHeight = 64;   ///< one line of text
inline constexpr double kTextCardHeight = 80;   ///< two lines
inline constexpr double kStackHeight = 72;      ///< including the sheets under the card
inline constexpr double kGenerateHeight = 132;  ///< including the model line and the answer
inline constexpr double kPortDistance = 24;     ///< min distance between two inputs of a pill
inline constexpr double kColumnGap = 72;
inline constexpr double kRowGap = 24;
inline constexpr double kTreeGap = 72;  ///< between the query and the drafts below it

/// Whether the node is drawn as a tall pill with numbered inputs.
bool isPill(const query::Node& own);

/// Returns the rectangles of all drawn nodes, in scene pixels at zoom 1:
/// - Nodes below a collapsed node are not drawn.
/// - The first member of a stack has the rectangle of the stack. The other members have no rectangle.
/// - An explicit position of the top of a tree moves the whole tree. The explicit position of another node
///   moves only this node.
/// - Without explicit positions, no two rectangles overlap.
/// - Drafts without a position are below all other trees.
std::map<document::NodeId, document::Rect> tidyLayout(const document::Document& document,
                                                      const Stacks& stacks = {});
/// Returns the height of the tree with this top. Explicit positions of its nodes do not count.
double treeHeight(const document::Document& document, document::NodeId top, const Stacks& stacks);

/// Whether every layout stays the same if `other` takes the place of `one`.
bool laidOutAlike(const document::DocumentNode& one, const document::DocumentNode& other);

/// Returns the y coordinates of the inputs of `node`, relative to the top of its rectangle. Each entry of
/// `children` has one coordinate. A list node has one more coordinate, for a free input after the children. A
/// leaf or a collapsed node has no coordinates. Inputs keep the order of the children. If there is room, each
/// input has the y coordinate of its child. The members of a stack share one coordinate.
std::vector<double> inputHeights(const document::Document& document, document::NodeId node,
                                 const std::map<document::NodeId, document::Rect>& layout);
/// Returns the height of the output, from the top of the rectangle.
double outputHeight(const document::Rect& rect);

// Finds the node to which an arrow key leads. The arrow keys follow the drawn tree.

enum class Walk { Left, Right, Up, Down };

/// Returns the node to which a key leads from `from`, or kNoNode if there is none:
/// - `Walk::Left`: the child at the nearest height
/// - `Walk::Right`: the parent
/// - `Walk::Up` and `Walk::Down`: the previous or next sibling, else a node of the same depth in any tree
/// - if `from` is kNoNode: the root
/// - if `from` is not drawn: the nearest drawn node above it
document::NodeId walk(const document::Document& document,
                      const std::map<document::NodeId, document::Rect>& layout, document::NodeId from,
                      Walk to);

}  // namespace spanscope::ui
