// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the node to which an arrow key leads. The arrow keys follow the drawn tree.
#pragma once

#include "engine/workbench/document/document.h"

#include <map>

namespace spanscope::ui {

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
