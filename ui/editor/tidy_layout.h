// SPDX-License-Identifier: GPL-3.0-or-later
// Where the nodes of a document are drawn: leaves in a column at the left, prompt order from top to bottom,
// the root at the right. A pure function of the document.
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
inline constexpr double kStackHeight = 72;      ///< with the sheets behind it
inline constexpr double kGenerateHeight = 132;  ///< with the model line and the answer
inline constexpr double kPortDistance = 24;     ///< least distance between two inputs of a pill
inline constexpr double kColumnGap = 72;
inline constexpr double kRowGap = 24;
inline constexpr double kTreeGap = 72;  ///< between the query and drafts below it

/// Drawn as a tall pill with numbered inputs.
bool isPill(const query::Node& own);

/// Rectangles of all nodes that are drawn, in scene pixels at zoom 1. Nodes under a collapsed one are not,
/// and of a stack its first member alone, with the rectangle of the stack. A top with an explicit position
/// takes its tree along; another node with one stands where it says, alone. Without explicit positions no two
/// rectangles overlap. Drafts without a position stand below all others.
std::map<document::NodeId, document::Rect> tidyLayout(const document::Document& document,
                                                      const Stacks& stacks = {});
/// Height of the tree under this top where nothing in it has a position of its own.
double treeHeight(const document::Document& document, document::NodeId top, const Stacks& stacks);

/// Whether every layout stays as it is when the one node takes the place of the other.
bool laidOutAlike(const document::DocumentNode& one, const document::DocumentNode& other);

/// Heights, from the top of the rectangle of `node`, at which its inputs stand: one for each entry of
/// `children` and for a list node a free one behind them, none for a leaf or a collapsed node. They keep the
/// order of the children and stand level with them where there is room. The members of a stack share one.
std::vector<double> inputHeights(const document::Document& document, document::NodeId node,
                                 const std::map<document::NodeId, document::Rect>& layout);
/// Height of the output, from the top.
double outputHeight(const document::Rect& rect);

}  // namespace spanscope::ui
