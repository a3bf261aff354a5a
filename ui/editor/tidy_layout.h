// SPDX-License-Identifier: GPL-3.0-or-later
// Computes where the nodes of a document are drawn: leaves in a column at the left, in prompt order from top
// to bottom, and the root at the right. It is a pure function of the document and its stacks.
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
inline constexpr double kStackHeight = 72;      ///< including the sheets behind the card
inline constexpr double kGenerateHeight = 132;  ///< including the model line and the answer
inline constexpr double kPortDistance = 24;     ///< least distance between two inputs of a pill
inline constexpr double kColumnGap = 72;
inline constexpr double kRowGap = 24;
inline constexpr double kTreeGap = 72;  ///< between the query and the drafts below it

/// Whether the node is drawn as a tall pill with numbered inputs.
bool isPill(const query::Node& own);

/// The rectangles of all drawn nodes, in scene pixels at zoom 1. Nodes below a collapsed node are not drawn.
/// Of a stack only the first member has a rectangle, which is the stack's. If the top of a tree has an
/// explicit position, its tree moves with it. If another node has one, only that node moves. Without explicit
/// positions no two rectangles overlap. Drafts without a position stand below all other trees.
std::map<document::NodeId, document::Rect> tidyLayout(const document::Document& document,
                                                      const Stacks& stacks = {});
/// The height of the tree with this top, as if no node in it had an explicit position.
double treeHeight(const document::Document& document, document::NodeId top, const Stacks& stacks);

/// Whether every layout stays the same if `other` takes the place of `one`.
bool laidOutAlike(const document::DocumentNode& one, const document::DocumentNode& other);

/// The heights of the inputs of `node`, from the top of its rectangle. There is one for each entry of
/// `children`, and for a list node one more, a free input after them. A leaf or a collapsed node has none.
/// Inputs keep the order of the children, and stand level with them if there is room. The members of a stack
/// share one height.
std::vector<double> inputHeights(const document::Document& document, document::NodeId node,
                                 const std::map<document::NodeId, document::Rect>& layout);
/// The height of the output, from the top of the rectangle.
double outputHeight(const document::Rect& rect);

}  // namespace spanscope::ui
