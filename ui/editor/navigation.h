// SPDX-License-Identifier: GPL-3.0-or-later
// Where the arrow keys lead: along the tree as it is drawn.
#pragma once

#include "engine/workbench/document/document.h"

#include <map>

namespace spanscope::ui {

enum class Walk { Left, Right, Up, Down };

/// Left: to the child most level with it, Right: to the parent, Up and Down: to the sibling, else to the next
/// node of the same depth, else of the next tree. kNoNode: there is none. From kNoNode: the root.
document::NodeId walk(const document::Document& document,
                      const std::map<document::NodeId, document::Rect>& layout, document::NodeId from,
                      Walk to);

}  // namespace spanscope::ui
