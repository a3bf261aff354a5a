// SPDX-License-Identifier: GPL-3.0-or-later
// The canvas for screen readers and tests: a tree whose items are the nodes, in prompt order.
#pragma once

#include "engine/workbench/document/document.h"

#include <QString>

namespace spanscope::ui {

class CanvasCore;

/// Makes canvases accessible; to be called once before the first is shown. Calling it again does nothing.
void installCanvasAccessibility();

/// "user, document 1, 49 tokens, cached 100 %".
QString accessibleNodeName(const CanvasCore& core, document::NodeId id);

}  // namespace spanscope::ui
