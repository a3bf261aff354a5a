// SPDX-License-Identifier: GPL-3.0-or-later
// Computes the places of the drawn nodes of a document. Leaves are in a column at the left, in prompt order
// from top to bottom, and the root is at the right. The layout is a pure function of the document and its
// stacks.
#pragma once

#include "engine/workbench/document/document.h"
#include "ui/editor/stacking.h"

#include <map>
#include <vector>

namespace spanscope::ui {

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

}  // namespace spanscope::ui
