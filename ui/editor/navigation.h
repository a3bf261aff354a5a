// SPDX-License-Identifier: GPL-3.0-or-later
// Where the arrow keys lead: they follow the tree as it is drawn.
#pragma once

#include "engine/workbench/document/document.h"

#include <map>

namespace spanscope::ui {

enum class Walk { Left, Right, Up, Down };

/// The node to which a key leads from `from`. Left leads to the child at the nearest height, Right to the
/// parent. Up and Down lead to the previous or next sibling, else to the previous or next node of the same
/// depth, also in other trees. Returns kNoNode if there is none. If `from` is kNoNode, returns the root. If
/// `from` is not drawn, returns the nearest drawn node above it.
document::NodeId walk(const document::Document& document,
                      const std::map<document::NodeId, document::Rect>& layout, document::NodeId from,
                      Walk to);

}  // namespace spanscope::ui
